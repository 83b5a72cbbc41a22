/** JSON Schema (draft 2020-12) of NDJSON rows, derived from the tables. */
import { ndjsonKey } from './ndjson-key.ts';
import { type Column, type Table, type TableName, tableNames, tables } from './tables.ts';

/** A JSON Schema as a plain object. */
export type JsonSchema = { readonly [key: string]: unknown };

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
const ISO_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$';

function cell({ type, nullable }: Column): JsonSchema {
  const typed = (name: string) => (nullable ? [name, 'null'] : name);
  switch (type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json':
    case 'bytes':
      return { type: typed('string') };
    case 'int':
      return { type: typed('integer'), minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    case 'float':
      return { type: typed('number') };
    case 'bool':
      return { type: typed('boolean') };
    case 'timestamp':
      return { type: typed('string'), format: 'date-time', pattern: ISO_PATTERN };
    case 'list':
      return { type: typed('array'), items: { type: 'string' } };
  }
}

const notes: Partial<Record<Column['type'], string>> = {
  json: 'JSON text.',
  bytes: 'The bytes as text where they are valid UTF-8, else as base64.',
};

const description = ({ doc, type }: Column): string => (notes[type] ? `${doc} ${notes[type]}` : doc);

function rowSchema(table: TableName): JsonSchema {
  const { record, doc, columns }: Table = tables[table];
  const properties: Record<string, JsonSchema> = { record: { const: record, description: 'Kind of the row.' } };
  for (const column of columns) properties[ndjsonKey(column)] = { description: description(column), ...cell(column) };
  return {
    title: table,
    description: doc,
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** The schema of one table's rows. Every key is always there; absent values are null. */
export const jsonSchema = (table: TableName): JsonSchema => ({ $schema: DRAFT, ...rowSchema(table) });

/** One schema for a stream of all tables: each line is one of them, told apart by `record`. */
export const streamJsonSchema = (of: readonly TableName[] = tableNames): JsonSchema => ({
  $schema: DRAFT,
  title: 'sessionlake',
  oneOf: of.map((table) => ({ $ref: `#/$defs/${table}` })),
  $defs: Object.fromEntries(of.map((table) => [table, rowSchema(table)])),
});

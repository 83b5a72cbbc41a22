/** zod schemas of rows, derived from the tables: as objects on their way to a sink, and as read back from NDJSON. */
import { z } from 'zod';
import { ndjsonKey } from './ndjson-key.ts';
import { type Column, type Rows, type Table, type TableName, tables } from './tables.ts';

const text = z.union([z.string(), z.instanceof(Uint8Array)]);

function rowCell({ type }: Column): z.ZodType {
  switch (type) {
    case 'key':
    case 'id':
      return z.string();
    case 'text':
    case 'json':
      return text;
    case 'int':
      return z.int();
    case 'float':
    case 'timestamp':
      return z.number();
    case 'bool':
      return z.boolean();
    case 'list':
      return z.array(z.string());
    case 'bytes':
      return z.instanceof(Uint8Array);
  }
}

/** UTC with milliseconds, as every sink of text writes it. */
export const ISO_MILLIS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const wellFormed = z.string().refine((value) => value.isWellFormed(), 'text with a lone surrogate');

function ndjsonCell({ type }: Column): z.ZodType {
  switch (type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json':
    case 'bytes':
      return wellFormed;
    case 'int':
      return z.int();
    case 'float':
      return z.number();
    case 'bool':
      return z.boolean();
    case 'timestamp':
      return z.string().regex(ISO_MILLIS);
    case 'list':
      return z.array(wellFormed);
  }
}

const nullable = (schema: z.ZodType, column: Column): z.ZodType => (column.nullable ? schema.nullable() : schema);

/** Rows as objects: every column a key, no others. */
export function rowSchema<N extends TableName>(table: N): z.ZodType<Rows[N]> {
  const { columns }: Table = tables[table];
  const shape = Object.fromEntries(columns.map((column) => [column.name, nullable(rowCell(column), column)]));
  return z.strictObject(shape) as unknown as z.ZodType<Rows[N]>;
}

/** A row read back from NDJSON; values by key, times as text. */
export type NdjsonRow = { record: string } & Record<string, unknown>;

/** Lines of NDJSON, parsed: `record`, then every column, no others. `omit` names columns that the folder holds. */
export function ndjsonSchema(table: TableName, omit: readonly string[] = []): z.ZodType<NdjsonRow> {
  const { columns, record }: Table = tables[table];
  const cells = columns
    .filter((column) => !omit.includes(column.name))
    .map((column) => [ndjsonKey(column), nullable(ndjsonCell(column), column)] as const);
  return z.strictObject({ record: z.literal(record), ...Object.fromEntries(cells) }) as unknown as z.ZodType<NdjsonRow>;
}

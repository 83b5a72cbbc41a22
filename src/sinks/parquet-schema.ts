/** Parquet schema elements of the tables' columns, as every reader in use maps them to the types we mean. */
import type { SchemaElement } from 'hyparquet';
import type { Column } from '../records/tables.ts';

/**
 * Text is STRING, JSON text too (BigQuery loads no JSON type from Parquet). Times are INT64 microseconds, UTC: the
 * logical type for today's readers, the converted type for old ones. Lists have the three levels that BigQuery and
 * Spark expect. Bytes have no logical type.
 */
export function schemaElements(column: Column): SchemaElement[] {
  const { name } = column;
  const repetition_type = column.nullable ? 'OPTIONAL' : 'REQUIRED';
  switch (column.type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json':
      return [{ name, repetition_type, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }];
    case 'int':
      return [{ name, repetition_type, type: 'INT64' }];
    case 'float':
      return [{ name, repetition_type, type: 'DOUBLE' }];
    case 'bool':
      return [{ name, repetition_type, type: 'BOOLEAN' }];
    case 'timestamp':
      return [
        {
          name,
          repetition_type,
          type: 'INT64',
          converted_type: 'TIMESTAMP_MICROS',
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
        },
      ];
    case 'list':
      return [
        { name, repetition_type, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        {
          name: 'element',
          repetition_type: 'OPTIONAL',
          type: 'BYTE_ARRAY',
          converted_type: 'UTF8',
          logical_type: { type: 'STRING' },
        },
      ];
    case 'bytes':
      return [{ name, repetition_type, type: 'BYTE_ARRAY' }];
  }
}

/** The schema of a file with these columns. */
export const parquetSchema = (columns: readonly Column[]): SchemaElement[] => [
  { name: 'schema', num_children: columns.length },
  ...columns.flatMap(schemaElements),
];

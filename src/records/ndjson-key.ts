/** Names of columns in NDJSON. */
import type { Column } from './tables.ts';

/**
 * The key of a column in an NDJSON row: its name, but for a column called `record`, since that key names the kind of
 * the row.
 */
export const ndjsonKey = (column: Pick<Column, 'name'>): string =>
  column.name === 'record' ? 'record_bytes' : column.name;

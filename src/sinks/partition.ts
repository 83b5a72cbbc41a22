/** Hive-style partition folders below a table's folder. */
import { type Column, type TableName, tables } from '../records/tables.ts';

export const partitions = ['none', 'agent', 'day'] as const;
export type Partition = (typeof partitions)[number];

/** Hive's own name for the partition of rows whose value is null. */
const NULL_PARTITION = '__HIVE_DEFAULT_PARTITION__';

const has = (table: TableName, column: string): boolean =>
  (tables[table].columns as readonly Column[]).some((c) => c.name === column);

/** Columns that the folder name holds and the files therefore do not (BigQuery refuses both). */
export const partitionColumns = (partition: Partition, table: TableName): string[] =>
  partition === 'agent' && has(table, 'agent') ? ['agent'] : [];

/** Column whose UTC day partitions a table; null where it has no time. */
const dayColumn = (table: TableName): string | null =>
  has(table, 'timestamp') ? 'timestamp' : has(table, 'started_at') ? 'started_at' : null;

/** Folder below the table's folder; empty where the table is not partitioned. `day` is the UTC day of the event. Absent is null. */
export function partitionFolder(
  partition: Partition,
  table: TableName,
  row: Readonly<Record<string, unknown>>,
): string {
  if (partition === 'none') return '';
  if (partition === 'agent') return has(table, 'agent') ? `agent=${String(row['agent'] ?? NULL_PARTITION)}` : '';
  const column = dayColumn(table);
  if (column === null) return '';
  const time = row[column];
  return `day=${typeof time === 'number' ? new Date(time).toISOString().slice(0, 10) : NULL_PARTITION}`;
}

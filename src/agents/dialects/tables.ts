/** Tables of databases whose columns came over time. */
import type { StoreDatabase } from '../../framing/database.ts';

/**
 * A table with only what is named of it, each an SQL expression with its name. Grouping and sorting keep all columns
 * that a query touches: without this, values of hundreds of megabytes would be sorted for the sake of their lengths.
 */
export const narrowed = (table: string, columns: Readonly<Record<string, string>>): string =>
  `WITH narrow AS MATERIALIZED (SELECT ${Object.entries(columns)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(', ')} FROM ${table})`;

/** What tells that the rows of a session changed, and their bytes. */
export interface RowState {
  readonly state: string;
  readonly bytes: number;
}

/** By key, out of a query that gives `id`, `state` and `bytes` a row. */
export function rowStates(database: StoreDatabase, sql: string): ReadonlyMap<string, RowState> {
  const found = new Map<string, RowState>();
  for (const row of database.each(sql))
    found.set(String(row['id']), { state: String(row['state']), bytes: Number(row['bytes'] ?? 0) });
  return found;
}

/** Columns by table, looked up once. */
export class TableShapes {
  private readonly database: StoreDatabase;
  private readonly known = new Map<string, ReadonlySet<string>>();

  constructor(database: StoreDatabase) {
    this.database = database;
  }

  /** Columns of a table; empty where there is none. */
  columns(table: string): ReadonlySet<string> {
    let found = this.known.get(table);
    if (found === undefined) {
      found = this.database.columns(table) ?? new Set();
      this.known.set(table, found);
    }
    return found;
  }

  has(table: string, ...columns: readonly string[]): boolean {
    const found = this.columns(table);
    return found.size > 0 && columns.every((column) => found.has(column));
  }

  /** The columns for a SELECT: those that the table lacks are NULL. */
  select(table: string, ...names: readonly string[]): string {
    const found = this.columns(table);
    return names.map((name) => (found.has(name) ? `"${name}"` : `NULL AS "${name}"`)).join(', ');
  }
}

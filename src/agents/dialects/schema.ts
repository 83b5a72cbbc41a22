/**
 * What a database must hold for an agent's sessions to be read out of it. A table that was renamed is no empty store:
 * taken for one, it would withdraw all that was told before.
 */
import type { StoreDatabase } from '../../framing/database.ts';
import { sourceError } from '../../framing/errors.ts';

/** Tables with the columns (in lower case) that no era of the layout lacks, and that reading cannot do without. */
export type NeededTables = Readonly<Record<string, readonly string[]>>;

export interface StoreSchema {
  /** Whose tables they are, for a person. */
  readonly product: string;
  /** The newest first; one of them must be there. A layout is there where one of its `signs` is (its first table). */
  readonly layouts: readonly { readonly tables: NeededTables; readonly signs?: readonly string[] }[];
  /** Where the database says which version it has. */
  readonly version?: { readonly table: string; readonly column: string };
  /** A view of a needed name is none of the writer's. */
  readonly refusesViews?: boolean;
}

/** Throws a source-scoped error that names what is missing, and the version of the database where it has one. */
export function checkSchema(database: StoreDatabase, schema: StoreSchema): void {
  const columnsOf = (table: string): ReadonlySet<string> | null => {
    const columns = database.columns(table);
    if (columns === null || schema.refusesViews !== true) return columns;
    const sql = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE`;
    return database.all(sql, table).length > 0 ? columns : null;
  };
  const signsOf = ({ tables, signs }: StoreSchema['layouts'][number]): readonly string[] =>
    signs ?? Object.keys(tables).slice(0, 1);
  const present = schema.layouts.filter((layout) => signsOf(layout).some((table) => columnsOf(table) !== null));
  const missing: string[] = [];
  if (present.length === 0) missing.push(`table ${schema.layouts.map((layout) => signsOf(layout)[0]!).join(' or ')}`);
  for (const { tables } of present) {
    for (const [table, needed] of Object.entries(tables)) {
      const columns = columnsOf(table);
      if (columns === null) missing.push(`table ${table}`);
      else for (const column of needed) if (!columns.has(column)) missing.push(`column ${table}.${column}`);
    }
  }
  if (missing.length === 0) return;
  const told = `lacks ${missing.join(', ')}, without which sessions of ${schema.product} cannot be read`;
  throw sourceError('foreign_schema', `${told}${versionOf(database, schema)}`);
}

function versionOf(database: StoreDatabase, { version }: StoreSchema): string {
  if (version !== undefined && database.columns(version.table)?.has(version.column) === true) {
    const [row] = database.all(`SELECT max("${version.column}") AS version FROM "${version.table}"`);
    const found = row?.['version'] ?? null;
    if (found !== null) return ` (schema version ${String(found).slice(0, 80)})`;
  }
  const [own] = database.all('SELECT user_version AS version FROM pragma_user_version');
  return Number(own?.['version'] ?? 0) === 0 ? '' : ` (schema version ${String(own?.['version'])})`;
}

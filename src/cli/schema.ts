/** `sessionlake schema`, and the views that a pipeline definition asks for. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { manifestPath, writeWhole } from '../cursor/lake.ts';
import { type OptionsInput, parseOptions, UsageError } from '../options.ts';
import { createTables, sqlDialects } from '../records/ddl.ts';
import { tablesDocs } from '../records/docs.ts';
import { streamJsonSchema } from '../records/schema-json.ts';
import { type TableName, tableNames, tables } from '../records/tables.ts';
import { duckdbViews, type LakeFormat } from '../records/views.ts';

const lakeFormats: readonly LakeFormat[] = ['parquet', 'ndjson', 'arrow', 'arrow-stream'];

/** The format of a lake: what its manifest says, unless it is given. */
function formatOf(folder: string, given: string | undefined): LakeFormat {
  const told =
    given ??
    (existsSync(manifestPath(folder))
      ? (JSON.parse(readFileSync(manifestPath(folder), 'utf8')) as { format?: string }).format
      : 'parquet');
  const format = lakeFormats.find((name) => name === told);
  if (format === undefined) throw new UsageError(`${folder}: its manifest names an unknown format; give --format`);
  return format;
}

/** SQL of views over the lake. Tables without files get empty views, so that queries work from the first day on. */
export function lakeViews(folder: string, format?: string): string {
  const lakeDir = resolve(folder);
  const withFiles = tableNames.filter((table) => {
    const path = join(lakeDir, table);
    return existsSync(path) && readdirSync(path).length > 0;
  });
  return duckdbViews({ lakeDir, format: formatOf(lakeDir, format), withFiles });
}

/** Writes the views into a file below the lake. Throws `UsageError` where the name leads out of it. */
export function writeViews(folder: string, name: string, format?: string): void {
  const path = resolve(folder, name);
  if (!path.startsWith(`${resolve(folder)}/`))
    throw new UsageError(`views: '${name}' must be a file name below the lake`);
  writeWhole(path, `${lakeViews(folder, format)}\n`);
}

function selected(names: readonly string[] | undefined): readonly TableName[] {
  if (names === undefined) return tableNames;
  for (const name of names)
    if (!Object.hasOwn(tables, name))
      throw new UsageError(`--tables: unknown table '${name}'; known: ${tableNames.join(', ')}`);
  return tableNames.filter((name) => names.includes(name));
}

export async function schema(input: OptionsInput & { as?: string }): Promise<number> {
  const { as, ...rest } = input;
  const options = parseOptions(rest);
  const names = selected(options.tables);
  process.stdout.write(`${textOf(as ?? 'json-schema', names, options)}\n`);
  return 0;
}

function textOf(as: string, names: readonly TableName[], options: ReturnType<typeof parseOptions>): string {
  const dialect = sqlDialects.find((name) => name === as);
  if (dialect !== undefined) return createTables(dialect, names);
  if (as === 'markdown') return tablesDocs();
  if (as === 'json-schema') return JSON.stringify(streamJsonSchema(names), null, 2);
  if (options.out === undefined) throw new UsageError('--as duckdb-views needs --out DIR, the lake the views are over');
  return lakeViews(options.out, options.format);
}

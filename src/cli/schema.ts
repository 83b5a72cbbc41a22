/** `sessionlake schema`, and the views that a pipeline definition asks for. */
import { resolve } from 'node:path';
import { readManifest } from '../cursor/lake.ts';
import { type OptionsInput, parseOptions, UsageError } from '../options.ts';
import { createTables, sqlDialects } from '../records/ddl.ts';
import { tablesDocs } from '../records/docs.ts';
import { streamJsonSchema } from '../records/schema-json.ts';
import { type TableName, tableNames, tables } from '../records/tables.ts';
import { duckdbViews, type LakeFormat } from '../records/views.ts';
import { writeWhole } from '../sinks/file-output.ts';

const lakeFormats: readonly LakeFormat[] = ['parquet', 'ndjson', 'arrow', 'arrow-stream'];

/**
 * SQL of views over the lake. Every table that the lake holds has files from its first run on; the views of others are
 * empty. Throws `UsageError` where the folder is no lake.
 */
export function lakeViews(folder: string, given?: string): string {
  const lakeDir = resolve(folder);
  const manifest = readManifest(lakeDir);
  const withFiles = new Set(manifest.batches.flatMap(({ files }) => files.map(({ table }) => table)));
  const format = lakeFormats.find((name) => name === given) ?? manifest.format;
  return duckdbViews({ lakeDir, format, withFiles: tableNames.filter((table) => withFiles.has(table)) });
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

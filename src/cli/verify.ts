/** `sessionlake verify DIR`: are the files of a lake those that were committed? */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type Manifest, readManifest } from '../cursor/lake.ts';
import { type OptionsInput, parseOptions } from '../options.ts';
import { tableNames } from '../records/tables.ts';
import { FORMAT_VERSION } from '../results.ts';
import { countRows, fileDigest } from '../sinks/read-back.ts';
import { formatBytes, plural } from './people.ts';
import { printJson, show } from './terminal.ts';

/** What is wrong with one file; null where nothing is. */
async function problemOf(
  path: string,
  expected: { bytes: number; rows: number; sha256: string },
  format: Manifest['format'],
): Promise<string | null> {
  if (!existsSync(path)) return 'is missing';
  const { size } = statSync(path);
  if (size !== expected.bytes) return `has ${size} ${size === 1 ? 'byte' : 'bytes'}, not ${expected.bytes}`;
  if (fileDigest(path).sha256 !== expected.sha256) return 'has other contents than were committed';
  try {
    const rows = await countRows(path, format);
    return rows === expected.rows ? null : `has ${rows} rows, not ${expected.rows}`;
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}

/** Files in the tables' folders that no batch committed: a reader that globs would take them in. */
function strangers(folder: string, known: ReadonlySet<string>): string[] {
  const below = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? below(join(path, entry.name)) : [join(path, entry.name)],
    );
  return tableNames
    .map((table) => join(folder, table))
    .filter((path) => existsSync(path))
    .flatMap(below)
    .map((path) => relative(folder, path))
    .filter((path) => !known.has(path));
}

export async function verify(input: OptionsInput, argument: string | undefined): Promise<number> {
  const options = parseOptions(input);
  const folder = resolve(argument ?? '.');
  const manifest = readManifest(folder);
  const files = manifest.batches.flatMap((batch) => batch.files);
  const problems: { path: string; problem: string }[] = [];
  for (const file of files) {
    const problem = await problemOf(join(folder, file.path), file, manifest.format);
    if (problem !== null) problems.push({ path: file.path, problem });
  }
  for (const path of strangers(folder, new Set(files.map((f) => f.path)))) {
    problems.push({ path, problem: 'was not committed by sessionlake: it belongs to no batch' });
  }
  const rows = files.reduce((n, f) => n + f.rows, 0);
  const bytes = files.reduce((n, f) => n + f.bytes, 0);
  if (options.json === true) {
    printJson({
      format_version: FORMAT_VERSION,
      lake: folder,
      kind: manifest.kind,
      batches: manifest.batches.length,
      files: files.length,
      rows,
      bytes,
      problems,
    });
  } else {
    const verdict = problems.length === 0 ? 'all as committed' : plural(problems.length, 'problem');
    show(
      ...problems.map(({ path, problem }) => `${path} ${problem}`),
      `${plural(files.length, 'file')}, ${plural(rows, 'row')}, ${formatBytes(bytes)}: ${verdict}`,
    );
  }
  return problems.length === 0 ? 0 : 2;
}

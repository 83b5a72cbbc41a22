/** `--sources-from`: a list of source paths, one a line. */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import split2 from 'split2';
import { UsageError } from '../options.ts';

/** Paths are short; a longer line means that the file is something else. */
const MAX_PATH = 32 * 1024;

/** The paths listed in a file (`-`: standard input), absolute; null where no list was given. Throws `UsageError`. */
export async function sourceList(file: string | undefined): Promise<ReadonlySet<string> | null> {
  if (file === undefined) return null;
  const paths = new Set<string>();
  const input = file === '-' ? process.stdin : createReadStream(file);
  const lines = input.pipe(split2({ maxLength: MAX_PATH }));
  input.on('error', (error: Error) => lines.destroy(error));
  try {
    for await (const line of lines as AsyncIterable<string>) if (line.trim() !== '') paths.add(resolve(line.trim()));
  } catch (error) {
    throw new UsageError(`--sources-from ${file}: ${(error as Error).message}`);
  }
  if (paths.size === 0) throw new UsageError(`--sources-from ${file}: lists no path`);
  return paths;
}

/** Makes folders without Node's own recursion, which never ends where a file system refuses entries as absent (/proc). */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a folder and those above it that are missing; one that is there is left as it is. `mode` holds for all that are
 * made. Throws the file system's error: of a file in the way, of a place that takes no folders.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const error = make(path, mode);
  if (error === null) return;
  const parent = dirname(path);
  if (codeOf(error) !== 'ENOENT' || parent === path || isFolder(parent)) throw error;
  makeFolder(parent, mode);
  const again = make(path, mode);
  if (again !== null) throw again;
}

/** null where the folder is there now, whoever made it. */
function make(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return null;
  } catch (error) {
    return codeOf(error) === 'EEXIST' && isFolder(path) ? null : error;
  }
}

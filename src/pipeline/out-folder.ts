/** The folder that a command writes to. */
import { statSync } from 'node:fs';
import { makeFolder } from '../framing/make-folder.ts';
import { UsageError } from '../options.ts';

const REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOTDIR', 'a file stands in its way'],
  ['EEXIST', 'a file stands in its way'],
  ['ENOENT', 'the place takes no folders'],
  ['ELOOP', 'its path is a loop of links'],
  ['ENAMETOOLONG', 'its name is too long'],
]);

/** Makes the folder. Throws a `UsageError` where the place cannot be one; a lack of permission is told by the caller of all. */
export function makeOutFolder(path: string, mode?: number): void {
  explained(path, () => makeFolder(path, mode));
}

/** Runs what needs a place to write to; its failure is told as one of that place. */
export function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = REASONS.get((error as NodeJS.ErrnoException).code);
    if (reason === undefined) throw error;
    throw new UsageError(`the folder ${path} cannot be made: ${reason}; name another one`);
  }
}

/** Throws a `UsageError` where something else than a folder has the name already. */
export function checkOutFolder(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory()) throw new UsageError(`${path} is no folder; name another one`);
}

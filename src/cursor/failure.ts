/** What it means for a person when the cursor or its lock cannot be used. */

/** The cursor cannot be used: it is something else, damaged, of a newer sessionlake, or lies where it cannot be written. */
export class CursorUnusableError extends Error {}

const READ_ONLY =
  'it cannot be opened for writing: the file, its folder or the file system is read-only or belongs to somebody else, or ' +
  'too many files are open (ulimit -n); nothing is wrong with its contents';
const FULL = 'the disk is full or the quota used up; free space and run again: nothing was committed half';
const DAMAGED =
  "it is damaged, or no cursor; restore it from a backup together with its lake, or move the lake's folder away and sync anew: all that the stores still hold is written again";

/** By the beginning of SQLite's extended codes. */
const meanings: readonly (readonly [beginning: string, meaning: string])[] = [
  ['SQLITE_READONLY', READ_ONLY],
  ['SQLITE_CANTOPEN', READ_ONLY],
  ['SQLITE_PERM', READ_ONLY],
  ['SQLITE_FULL', FULL],
  ['SQLITE_BUSY', 'another program holds it; try again when that has ended'],
  ['SQLITE_IOERR', 'the disk or the file system failed; see the log of the system and run again'],
  ['SQLITE_NOTADB', DAMAGED],
  ['SQLITE_CORRUPT', DAMAGED],
  ['SQLITE_ERROR', DAMAGED],
];

/** The error as it is to be thrown: what SQLite says gets the path and the next step, anything else stays as it is. */
export function cursorFailure(error: unknown, path: string): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string' || error instanceof CursorUnusableError) return error;
  const meaning = meanings.find(([beginning]) => code.startsWith(beginning))?.[1];
  if (meaning === undefined) return error;
  return new CursorUnusableError(`${path}: ${meaning} (${code}: ${(error as Error).message})`, { cause: error });
}

/** One run at a time: a lock that the operating system lets go of when its holder dies, however that happens. */
import { closeSync, existsSync, openSync, rmSync, type Stats, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { cursorFailure } from './failure.ts';

/** Another run holds the cursor. */
export class CursorLockedError extends Error {}

export interface Lock {
  release(): void;
}

/** So often another run may end, and take its file with it, between our opening of the file and our locking of it. */
const MAX_ATTEMPTS = 20;

const lockedBy = (path: string): CursorLockedError =>
  new CursorLockedError(`another run holds ${path}; try again when it has ended`);

/** Makes the file, for its owner alone, where there is none. Not left open: closing a file gives up all locks on it. */
function create(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Null where the file went away meanwhile. */
function lockExclusively(path: string): Database.Database | null {
  let database: Database.Database | null = null;
  try {
    database = new Database(path, { timeout: 0, fileMustExist: true });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    const code = (error as { code?: string }).code ?? '';
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) throw lockedBy(path);
    if (code.startsWith('SQLITE_CANTOPEN') && !existsSync(path)) return null;
    throw error;
  }
}

const sameFile = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;

/** One attempt; null where the file that was locked is not, or no longer, the one that the next run would open. */
function attempt(path: string): Lock | null {
  if (!existsSync(path)) create(path);
  const before = statSync(path, { throwIfNoEntry: false });
  const database = lockExclusively(path);
  if (database === null) return null;
  const letGo = (): void => {
    database.exec('ROLLBACK');
    database.close();
  };
  if (!sameFile(before, statSync(path, { throwIfNoEntry: false }))) {
    letGo();
    return null;
  }
  return {
    release() {
      // While it is still locked: whoever has opened it meanwhile sees that the path leads elsewhere, and tries again.
      // Windows does not remove an open file; there it stays, empty, for the next run.
      if (process.platform !== 'win32') rmSync(path, { force: true });
      letGo();
    },
  };
}

/**
 * Takes the lock file (an empty SQLite database, held by an exclusive transaction), which goes when the lock is released.
 * Throws `CursorLockedError`, and `CursorUnusableError` where the file cannot be made.
 */
export function takeLock(path: string): Lock {
  try {
    for (let n = 0; n < MAX_ATTEMPTS; n++) {
      const lock = attempt(path);
      if (lock !== null) return lock;
    }
  } catch (error) {
    throw cursorFailure(error, path);
  }
  throw lockedBy(path);
}

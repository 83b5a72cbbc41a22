/** One run at a time: a lock that the operating system lets go of when its holder dies, however that happens. */
import Database from 'better-sqlite3';

/** Another run holds the cursor. */
export class CursorLockedError extends Error {}

export interface Lock {
  release(): void;
}

/** Takes the lock file (an empty SQLite database, held by an exclusive transaction). Throws `CursorLockedError`. */
export function takeLock(path: string): Lock {
  const database = new Database(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const code = (error as { code?: string }).code ?? '';
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
      throw new CursorLockedError(`another run holds ${path}; try again when it has ended`);
    }
    throw error;
  }
  return {
    release() {
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

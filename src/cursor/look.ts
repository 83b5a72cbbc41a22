/** A cursor that is only looked at: also on a file system or in a folder where nothing can be written. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { cursorFailure } from './failure.ts';

interface Opened {
  readonly database: Database.Database;
  /** After the database is closed. */
  close(): void;
}

/** Opens the file itself, as it is; null where SQLite would have to write beside it. */
function openInPlace(path: string): Database.Database | null {
  let database: Database.Database | null = null;
  try {
    // Not `readonly`: the last connection that may write takes the files beside the database away again.
    database = new Database(path, { timeout: 5000, fileMustExist: true });
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database?.close();
    const code = (error as { code?: string }).code ?? '';
    if (/^SQLITE_(CANTOPEN|READONLY|PERM)/.test(code)) return null;
    throw cursorFailure(error, path);
  }
}

/**
 * A database in WAL mode cannot be read without files beside it: where none can be made, a private copy is read. Its log
 * goes along, so that what a killed run committed last is there.
 */
export function openToLookAt(path: string): Opened {
  const database = openInPlace(path);
  if (database !== null) return { database, close: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), 'sessionlake-cursor-'));
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'cursor.db');
    for (const ending of ['', '-wal']) {
      if (existsSync(`${path}${ending}`)) copyFileSync(`${path}${ending}`, `${copy}${ending}`);
    }
    return { database: new Database(copy, { fileMustExist: true }), close };
  } catch (error) {
    close();
    throw error;
  }
}

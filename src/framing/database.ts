/**
 * Agents' SQLite databases, read as they are at one moment. Nothing may appear or change beside them, which rules most
 * ways of opening one out: even a read-only connection to a WAL database at rest makes `-wal` and `-shm` files there.
 *
 * | what stands there | how it is read |
 * |---|---|
 * | rollback journal mode, no hot journal | in place, read-only, one read transaction: takes a shared lock, writes nothing |
 * | WAL mode, no `-wal` (or an empty one) | in place, as an immutable file; it is checked afterwards that it was |
 * | `-wal` and `-shm` (a program has it open, or was killed) | in place, `-shm` read-only, one read transaction |
 * | `-wal` without `-shm`, or a hot journal | a private copy of both, checked to be of one moment; recovered there |
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type ScopedError, sourceError } from './errors.ts';
import { scratchFolder } from './scratch.ts';

export type SqlValue = string | number | bigint | Uint8Array | null;
/** Integers are numbers where that is exact, else bigints. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A database that is open in one read transaction. */
export interface StoreDatabase {
  readonly path: string;
  /** Columns of a table or view, in lower case; null where there is no such table. */
  columns(table: string): ReadonlySet<string> | null;
  /** For short answers. Throws a source-scoped error. */
  all(sql: string, ...params: readonly SqlValue[]): SqlRow[];
  /** Row by row: nothing but the row at hand is held. Throws a source-scoped error. */
  each(sql: string, ...params: readonly SqlValue[]): Iterable<SqlRow>;
}

export interface OpenDatabase extends StoreDatabase {
  /** Size and times of database and write-ahead log together. */
  readonly stat: DatabaseStat;
  /** Throws a source-scoped error where what was taken for unchanging has changed. */
  checkUnchanged(): void;
  close(): void;
}

export interface DatabaseStat {
  /** Bytes of database and write-ahead log. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
/** How long a lock is waited for, in milliseconds. */
const BUSY_MS = 1500;
/** A copy that was not of one moment is made again. */
const COPY_ATTEMPTS = 8;

type Sqlite = typeof import('node:sqlite');
let sqlite: Sqlite | null = null;

/** `node:sqlite` warns on stderr that it may change; stderr is for people, and the version of Node is checked. */
function loadSqlite(): Sqlite {
  if (sqlite !== null) return sqlite;
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    sqlite = process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
  return sqlite;
}

const statOrNull = (path: string): Stats | null => {
  try {
    return statSync(path);
  } catch {
    return null;
  }
};

/** Where the file is a link, or no file, nothing is opened: a link may lead out of the store. */
function checkFile(path: string): Stats {
  let stat: Stats;
  try {
    stat = lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw sourceError('unreadable', `cannot be opened: ${code === 'ENOENT' ? 'it vanished' : code}`, error);
  }
  if (stat.isSymbolicLink()) throw sourceError('unreadable', 'cannot be opened: it is a link; links are not followed');
  if (!stat.isFile()) throw sourceError('not_a_file', 'is not a regular file');
  return stat;
}

type JournalMode = 'wal' | 'rollback' | 'empty';

function journalMode(path: string): JournalMode {
  const header = Buffer.alloc(20);
  let read: number;
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      read = readSync(fd, header, 0, header.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EACCES' || code === 'EPERM' ? 'no permission to read it; check its mode and owner' : code;
    throw sourceError('unreadable', `cannot be opened: ${why}`, error);
  }
  if (read === 0) return 'empty';
  if (read < header.length || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw sourceError('not_a_database', 'is not an SQLite database (its header is another)');
  }
  // Byte 18: file format write version, 1 = legacy, 2 = WAL (SQLite file format, section 1.3).
  return header[18] === 2 ? 'wal' : 'rollback';
}

const describe = (stat: Stats | null): string =>
  stat === null ? '-' : `${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.ino}`;

/** Database, log and journal as they are now, in a text. */
const stateOf = (path: string): string =>
  ['', '-wal', '-journal'].map((suffix) => describe(statOrNull(path + suffix))).join(' ');

export function databaseStat(path: string): DatabaseStat {
  const main = checkFile(path);
  const wal = statOrNull(`${path}-wal`);
  return {
    size: main.size + (wal?.size ?? 0),
    mtimeMs: Math.max(main.mtimeMs, wal?.mtimeMs ?? 0),
    ctimeMs: Math.max(main.ctimeMs, wal?.ctimeMs ?? 0),
    inode: main.ino,
  };
}

/** A copy of database and log (or journal) as they were at one moment; made once for all threads of a run. */
function privateCopy(path: string): string {
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
    const before = stateOf(path);
    const name = createHash('sha256').update(`${path}\0${before}`).digest('hex').slice(0, 24);
    const folder = join(scratchFolder(), name);
    const copy = join(folder, basename(path));
    if (existsSync(folder)) return copy;
    const making = `${folder}.${process.pid}.${attempt}.${Math.random().toString(36).slice(2)}`;
    try {
      mkdirSync(making, { mode: 0o700 });
      for (const suffix of ['', '-wal', '-journal']) {
        if (statOrNull(path + suffix) === null) continue;
        // Where the file system can share blocks, this costs nothing.
        copyFileSync(path + suffix, join(making, basename(path) + suffix), constants.COPYFILE_FICLONE);
      }
      if (stateOf(path) === before) {
        renameInto(making, folder);
        return copy;
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC' || code === 'EDQUOT') {
        throw sourceError(
          'no_space',
          `has to be copied to be read, and there is no space for it in ${scratchFolder()} (${code}); set TMPDIR`,
          error,
        );
      }
      // The log vanishes when the last program closes the database: what is there then is looked at anew.
      if (code !== 'ENOENT') throw sourceError('copy_failed', `cannot be copied to be read: ${code ?? message}`, error);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  throw sourceError('database_busy', 'is being written all the time, so that no copy of one moment could be made');
}

function renameInto(making: string, folder: string): void {
  try {
    renameSync(making, folder);
  } catch (error) {
    // Another thread was first; its copy is of the same moment.
    if (!existsSync(folder)) throw error;
  }
}

const toError = (error: unknown): ScopedError => {
  const { message, errcode } = error as { message: string; errcode?: number };
  // Primary result code: the low byte.
  switch ((errcode ?? 0) & 0xff) {
    case 5:
    case 6:
      return sourceError('database_locked', 'is locked by another program; close it or run again later', error);
    case 11:
      return sourceError('database_corrupt', `is damaged: ${message}`, error);
    case 26:
      return sourceError('not_a_database', 'is not an SQLite database (or is encrypted)', error);
    case 14:
      return sourceError('unreadable', 'cannot be opened by SQLite', error);
    default:
      return sourceError('database_error', `cannot be read: ${message}`, error);
  }
};

function convert(row: Record<string, SqlValue>): SqlRow {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) {
      row[name] = Number(value);
    }
  }
  return row;
}

class Connection implements OpenDatabase {
  readonly path: string;
  readonly stat: DatabaseStat;
  private readonly database: DatabaseSync;
  /**
   * The database file, as it must stay while it is read; null where it is a copy or the log's locks see to that. What
   * a program writes to a log meanwhile concerns the file only when it is checkpointed.
   */
  private readonly state: string | null;

  constructor(path: string, uri: URL, state: string | null) {
    this.path = path;
    this.state = state;
    this.stat = databaseStat(path);
    // BigInts are asked for a statement at a time: the default would throw at the first integer beyond 2^53.
    this.database = new (loadSqlite().DatabaseSync)(uri, { readOnly: true });
    try {
      this.database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA query_only = 1; PRAGMA trusted_schema = 0; BEGIN`);
      // A transaction begins with the first read, not with BEGIN.
      this.database.prepare('SELECT count(*) FROM sqlite_schema').get();
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  columns(table: string): ReadonlySet<string> | null {
    const rows = this.all('SELECT lower(name) AS name FROM pragma_table_xinfo(?)', table);
    return rows.length === 0 ? null : new Set(rows.map((row) => String(row['name'])));
  }

  all(sql: string, ...params: readonly SqlValue[]): SqlRow[] {
    return [...this.each(sql, ...params)];
  }

  *each(sql: string, ...params: readonly SqlValue[]): Generator<SqlRow, void, undefined> {
    try {
      const statement = this.database.prepare(sql);
      statement.setReadBigInts(true);
      for (const row of statement.iterate(...params)) yield convert(row as Record<string, SqlValue>);
    } catch (error) {
      throw isSqliteError(error) ? toError(error) : error;
    }
  }

  checkUnchanged(): void {
    if (this.state !== null && describe(statOrNull(this.path)) !== this.state) {
      throw sourceError('changed_while_read', 'was written while it was read; the next run reads it again');
    }
  }

  close(): void {
    this.database.close();
  }
}

const isSqliteError = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === 'ERR_SQLITE_ERROR';

const uriOf = (path: string, parameters: string): URL => new URL(`${pathToFileURL(path).href}?${parameters}`);

/** The copy is ours alone: SQLite may recover it. */
function openCopy(path: string): OpenDatabase {
  const copy = privateCopy(path);
  // Recovery of a journal or log needs a connection that may write.
  const database = new (loadSqlite().DatabaseSync)(copy);
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  } finally {
    database.close();
  }
  return new Connection(path, uriOf(copy, 'mode=ro'), null);
}

const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;

/** The kind of an SQLite error: the low byte of its code; null for other errors. */
const primaryCode = (error: unknown): number | null =>
  isSqliteError(error) ? ((error as { errcode?: number }).errcode ?? 0) & 0xff : null;

/** The log cannot be read without writing to it. */
const needsCopy = (error: unknown): boolean => primaryCode(error) === SQLITE_READONLY;

function openInPlace(path: string): OpenDatabase {
  const mode = journalMode(path);
  const size = (suffix: string): number => statOrNull(path + suffix)?.size ?? 0;
  if (mode === 'empty') throw sourceError('not_a_database', 'is empty');
  if (mode === 'rollback' && size('-wal') === 0) {
    if (size('-journal') > 0) return openCopy(path);
    // The shared lock keeps writers out; but a lock of this process ends when any of its threads closes the file.
    return new Connection(path, uriOf(path, 'mode=ro'), describe(statOrNull(path)));
  }
  if (size('-wal') === 0) {
    const before = stateOf(path);
    const connection = new Connection(path, uriOf(path, 'mode=ro&immutable=1'), describe(statOrNull(path)));
    if (stateOf(path) === before) return connection;
    connection.close();
    throw sourceError('changed_while_read', 'was written while it was opened');
  }
  if (!existsSync(`${path}-shm`)) return openCopy(path);
  try {
    return new Connection(path, uriOf(path, 'mode=ro&readonly_shm=1'), null);
  } catch (error) {
    if (needsCopy(error)) return openCopy(path);
    throw error;
  }
}

/**
 * Opens an agent's database at one state of it, by the rules above. Throws a source-scoped error where it is absent, a
 * link, no database, damaged, locked or busy.
 */
export function openDatabase(path: string): OpenDatabase {
  checkFile(path);
  for (let attempt = 0; ; attempt++) {
    try {
      return openInPlace(path);
    } catch (error) {
      // Somebody has begun to write, or stopped (its log is gone by then): the next look finds another of the cases.
      const hasChanged = (error as ScopedError).code === 'changed_while_read' || primaryCode(error) === SQLITE_CANTOPEN;
      if (hasChanged && attempt < COPY_ATTEMPTS) continue;
      throw isSqliteError(error) ? toError(error) : error;
    }
  }
}

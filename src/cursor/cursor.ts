/**
 * The cursor: one SQLite file that remembers what was read and written. All that a batch changes is changed in one
 * transaction, so after a crash it has happened or it has not.
 */

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { z } from 'zod';
import type { Claims, Links, SourceSpec } from '../agents/agent.ts';
import type { ResumePoint } from '../decoding/read-source.ts';
import type { SessionPart } from '../decoding/session-part.ts';
import { CursorUnusableError, cursorFailure } from './failure.ts';
import { openToLookAt } from './look.ts';

/** Raised when the layout of the file changes; an older sessionlake refuses a newer file. */
const CURSOR_VERSION = 1;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS sources (
  source_id TEXT PRIMARY KEY, agent TEXT NOT NULL, spec TEXT NOT NULL, fingerprint TEXT NOT NULL, status TEXT NOT NULL,
  error TEXT, decoder_version INTEGER NOT NULL, generation INTEGER NOT NULL, kin_digest TEXT NOT NULL, links TEXT NOT NULL,
  size INTEGER, last_complete_byte INTEGER, records INTEGER NOT NULL, batch_id TEXT NOT NULL, resume TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS claims (source_id TEXT PRIMARY KEY, keys BLOB NOT NULL, ranks BLOB NOT NULL, first_timestamp REAL) STRICT;
CREATE TABLE IF NOT EXISTS row_states (source_id TEXT PRIMARY KEY, packed BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS session_parts (
  source_id TEXT NOT NULL, agent TEXT NOT NULL, session_id TEXT NOT NULL, source_path TEXT NOT NULL, part TEXT NOT NULL,
  PRIMARY KEY (agent, session_id, source_id)
) STRICT;
CREATE INDEX IF NOT EXISTS session_parts_by_source ON session_parts (source_id);
CREATE TABLE IF NOT EXISTS session_rows (
  agent TEXT NOT NULL, session_id TEXT NOT NULL, content TEXT NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (agent, session_id)
) STRICT;
CREATE TABLE IF NOT EXISTS observations (
  event_id BLOB PRIMARY KEY, source_id TEXT NOT NULL, usage_key BLOB NOT NULL, native INTEGER NOT NULL, variant TEXT, output INTEGER NOT NULL,
  place TEXT NOT NULL, ordinal INTEGER NOT NULL, row TEXT NOT NULL, posted TEXT, posted_row TEXT, postings INTEGER NOT NULL DEFAULT 0,
  retired INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS observations_by_key ON observations (usage_key);
CREATE INDEX IF NOT EXISTS observations_by_source ON observations (source_id);
CREATE TABLE IF NOT EXISTS failures (source_id TEXT PRIMARY KEY, agent TEXT NOT NULL, path TEXT NOT NULL, told TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS batches (
  batch_id TEXT PRIMARY KEY, state TEXT NOT NULL, files TEXT NOT NULL, started_at TEXT NOT NULL
) STRICT;
`;

const fingerprintSchema = z.strictObject({
  size: z.number().nullable(),
  mtimeMs: z.number().nullable(),
  ctimeMs: z.number().nullable(),
  inode: z.number().nullable(),
  sidecars: z.string(),
  hints: z.string(),
});

/** What shows that a source is as it was. */
export type Fingerprint = z.infer<typeof fingerprintSchema>;

const fileSchema = z.looseObject({
  table: z.string(),
  /** Path below the staging folder and, after the rename, below the lake. */
  path: z.string(),
  bytes: z.number(),
  rows: z.number(),
  sha256: z.string(),
  minTimestamp: z.number().nullable(),
  maxTimestamp: z.number().nullable(),
});
export type BatchFile = z.infer<typeof fileSchema>;

export interface Batch {
  readonly batchId: string;
  readonly state: 'prepared' | 'committed';
  readonly files: readonly BatchFile[];
}

export interface KnownSource {
  readonly sourceId: string;
  readonly agent: string;
  readonly spec: SourceSpec;
  readonly fingerprint: Fingerprint;
  readonly status: string;
  readonly error: string | null;
  readonly decoderVersion: number;
  readonly generation: number;
  readonly kinDigest: string;
  readonly links: Links;
  readonly size: number | null;
  readonly lastCompleteByte: number | null;
  readonly records: number;
  readonly batchId: string;
  readonly hasResume: boolean;
}

interface SourceRecord {
  source_id: string;
  agent: string;
  spec: string;
  fingerprint: string;
  status: string;
  error: string | null;
  decoder_version: number;
  generation: number;
  kin_digest: string;
  links: string;
  size: number | null;
  last_complete_byte: number | null;
  records: number;
  batch_id: string;
  has_resume: number;
}

export class Cursor {
  readonly path: string;
  readonly database: Database.Database;
  private readonly statements = new Map<string, Database.Statement<unknown[]>>();
  /** After the database is closed. */
  private readonly closed: () => void;

  private constructor(path: string, database: Database.Database, closed: () => void = () => undefined) {
    this.path = path;
    this.database = database;
    this.closed = closed;
  }

  /** Opens or creates the cursor. Throws `CursorUnusableError` where the file is something else. */
  static open(path: string): Cursor {
    const isNew = path !== '' && !existsSync(path);
    const database = openDatabase(path);
    try {
      // A cursor in memory or in a temporary file needs no durability; a real one needs all of it.
      database.pragma(path === '' ? 'journal_mode = OFF' : 'journal_mode = WAL');
      database.pragma(path === '' ? 'synchronous = OFF' : 'synchronous = FULL');
      database.exec(SCHEMA);
    } catch (error) {
      database.close();
      throw cursorFailure(error, path);
    }
    const cursor = new Cursor(path, database);
    cursor.checkVersion();
    if (isNew || cursor.meta('version') === null) cursor.setMeta('version', String(CURSOR_VERSION));
    return cursor;
  }

  /** Opens a cursor to look at it: nothing in it is changed, and it may lie where nothing can be written. */
  static look(path: string): Cursor {
    const { database, close } = openToLookAt(path);
    const cursor = new Cursor(path, database, close);
    cursor.checkVersion();
    return cursor;
  }

  private checkVersion(): void {
    try {
      const version = Number(this.meta('version') ?? CURSOR_VERSION);
      if (version > CURSOR_VERSION) {
        throw new CursorUnusableError(
          `${this.path} was written by a newer sessionlake (cursor version ${version}, this one knows ${CURSOR_VERSION})`,
        );
      }
    } catch (error) {
      this.close();
      throw cursorFailure(error, this.path);
    }
  }

  close(): void {
    this.database.close();
    this.closed();
  }

  /** A statement, prepared once: each holds memory that V8 does not see, and so is in no hurry to free. */
  statement(sql: string): Database.Statement<unknown[]> {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare<unknown[]>(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }

  meta(key: string): string | null {
    const row = this.statement('SELECT value FROM meta WHERE key = ?').get(key) as { value: string } | undefined;
    return row?.value ?? null;
  }

  setMeta(key: string, value: string): void {
    this.statement('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(key, value);
  }

  /** All sources that were ever committed, by id. */
  sources(): Map<string, KnownSource> {
    const statement = this.database.prepare(
      `SELECT source_id, agent, spec, fingerprint, status, error, decoder_version, generation, kin_digest, links, size,
              last_complete_byte, records, batch_id, resume IS NOT NULL AS has_resume FROM sources`,
    );
    const known = new Map<string, KnownSource>();
    for (const row of statement.iterate() as IterableIterator<SourceRecord>) {
      known.set(row.source_id, {
        sourceId: row.source_id,
        agent: row.agent,
        spec: JSON.parse(row.spec) as SourceSpec,
        fingerprint: fingerprintSchema.parse(JSON.parse(row.fingerprint)),
        status: row.status,
        error: row.error,
        decoderVersion: row.decoder_version,
        generation: row.generation,
        kinDigest: row.kin_digest,
        links: JSON.parse(row.links) as Links,
        size: row.size,
        lastCompleteByte: row.last_complete_byte,
        records: row.records,
        batchId: row.batch_id,
        hasResume: row.has_resume === 1,
      });
    }
    return known;
  }

  resumePoint(sourceId: string): ResumePoint | null {
    const row = this.statement('SELECT resume FROM sources WHERE source_id = ?').get(sourceId) as
      | { resume: string | null }
      | undefined;
    return row === undefined || row.resume === null ? null : (JSON.parse(row.resume) as ResumePoint);
  }

  rowStates(sourceId: string): Uint8Array {
    const row = this.statement('SELECT packed FROM row_states WHERE source_id = ?').get(sourceId) as
      | { packed: Buffer }
      | undefined;
    return row === undefined ? new Uint8Array(0) : new Uint8Array(row.packed);
  }

  claims(sourceId: string): Claims | null {
    const row = this.statement('SELECT keys, ranks, first_timestamp FROM claims WHERE source_id = ?').get(sourceId) as
      | { keys: Buffer; ranks: Buffer; first_timestamp: number | null }
      | undefined;
    if (row === undefined) return null;
    const keys = new Float64Array(row.keys.length / 8);
    row.keys.copy(new Uint8Array(keys.buffer));
    return { keys, ranks: new Uint8Array(row.ranks), firstTimestamp: row.first_timestamp };
  }

  /** Parts of a session, in order of source path. */
  sessionParts(agent: string, sessionId: string): SessionPart[] {
    const rows = this.statement(
      'SELECT part FROM session_parts WHERE agent = ? AND session_id = ? ORDER BY source_path, source_id',
    ).all(agent, sessionId) as { part: string }[];
    return rows.map((row) => JSON.parse(row.part) as SessionPart);
  }

  batches(state?: Batch['state']): Batch[] {
    const rows = this.database
      .prepare(
        'SELECT batch_id, state, files FROM batches WHERE ? IS NULL OR state = ? ORDER BY length(batch_id), batch_id',
      )
      .all(state ?? null, state ?? null) as { batch_id: string; state: Batch['state']; files: string }[];
    return rows.map((row) => ({
      batchId: row.batch_id,
      state: row.state,
      files: z.array(fileSchema).parse(JSON.parse(row.files)),
    }));
  }

  /**
   * The id of the next batch: a greater number than that of any batch whose rows were told. Readers order by it, since
   * clocks go back.
   */
  nextBatchId(): string {
    const row = this.statement('SELECT max(CAST(batch_id AS INTEGER)) AS last FROM batches').get() as {
      last: number | null;
    };
    const last = Math.max(row.last ?? 0, Number(this.meta('last_batch') ?? 0));
    return String(last + 1).padStart(6, '0');
  }
}

/** Opens the database behind a cursor; a new file is its owner's alone from the first moment. */
function openDatabase(path: string): Database.Database {
  try {
    if (path !== '' && !existsSync(path)) {
      closeSync(openSync(path, 'a', 0o600));
      chmodSync(path, 0o600);
    }
    return new Database(path, { timeout: 5000 });
  } catch (error) {
    throw cursorFailure(error, path);
  }
}

/** What one batch changes in the cursor: written in one transaction by the caller. */
import type { Claims, Links, SourceSpec } from '../agents/agent.ts';
import type { ResumePoint } from '../decoding/read-source.ts';
import { mergeSessionParts, type SessionPart } from '../decoding/session-part.ts';
import type { SessionRow } from '../records/tables.ts';
import type { BatchFile, Cursor, Fingerprint } from './cursor.ts';

export interface SourceUpdate {
  readonly sourceId: string;
  readonly agent: string;
  readonly spec: SourceSpec;
  readonly fingerprint: Fingerprint;
  readonly status: string;
  readonly decoderVersion: number;
  readonly generation: number;
  readonly kinDigest: string;
  readonly links: Links;
  readonly size: number | null;
  readonly lastCompleteByte: number | null;
  readonly records: number;
  readonly resume: ResumePoint | null;
  readonly rowState: Uint8Array | null;
  readonly claims: Claims | null;
  readonly sessions: readonly SessionPart[];
}

const bytesOf = (array: Float64Array | Uint8Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

export class BatchWriter {
  private readonly cursor: Cursor;
  private readonly batchId: string;
  /** `agent \0 session` of sessions whose parts changed. */
  private readonly touched = new Set<string>();

  constructor(cursor: Cursor, batchId: string) {
    this.cursor = cursor;
    this.batchId = batchId;
  }

  source(update: SourceUpdate): void {
    const { cursor } = this;
    cursor
      .statement('INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        update.sourceId,
        update.agent,
        JSON.stringify(update.spec),
        JSON.stringify(update.fingerprint),
        update.status,
        update.decoderVersion,
        update.generation,
        update.kinDigest,
        JSON.stringify(update.links),
        update.size,
        update.lastCompleteByte,
        update.records,
        this.batchId,
        update.resume === null ? null : JSON.stringify(update.resume),
      );
    if (update.rowState !== null)
      cursor.statement('INSERT OR REPLACE INTO row_states VALUES (?, ?)').run(update.sourceId, update.rowState);
    if (update.claims !== null) this.claims(update.sourceId, update.claims);
    this.sessions(update.sourceId, update.sessions);
  }

  claims(sourceId: string, { keys, ranks, firstTimestamp }: Claims): void {
    this.cursor
      .statement('INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)')
      .run(sourceId, bytesOf(keys), bytesOf(ranks), firstTimestamp);
  }

  private sessions(sourceId: string, parts: readonly SessionPart[]): void {
    const insert = this.cursor.statement('INSERT OR REPLACE INTO session_parts VALUES (?, ?, ?, ?, ?)');
    for (const part of parts) {
      insert.run(sourceId, part.agent, part.fields.session_id, part.sourcePath, JSON.stringify(part));
      this.touched.add(`${part.agent}\u0000${part.fields.session_id}`);
    }
  }

  /** Rows of the sessions that this batch changed, as new revisions: one by one, for there may be very many. */
  *sessionRows(): Generator<SessionRow, void, undefined> {
    const { cursor } = this;
    const known = cursor.statement('SELECT content, revision FROM session_rows WHERE agent = ? AND session_id = ?');
    const save = cursor.statement('INSERT OR REPLACE INTO session_rows VALUES (?, ?, ?, ?)');
    for (const key of [...this.touched].sort()) {
      const [agent, sessionId] = key.split('\u0000') as [string, string];
      const row = mergeSessionParts(cursor.sessionParts(agent, sessionId), 0, 0);
      const content = JSON.stringify(row);
      const before = known.get(agent, sessionId) as { content: string; revision: number } | undefined;
      if (before?.content === content) continue;
      row.revision = before === undefined ? 0 : before.revision + 1;
      save.run(agent, sessionId, content, row.revision);
      yield row;
    }
  }

  /** Records the batch and its files as prepared: from here on it will be rolled forward. */
  prepare(files: readonly BatchFile[], startedAt: string): void {
    this.cursor
      .statement("INSERT INTO batches VALUES (?, 'prepared', ?, ?)")
      .run(this.batchId, JSON.stringify(files), startedAt);
  }
}

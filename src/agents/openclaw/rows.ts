/** Events of a session in the database: live, in cold storage, or in an archive. */
import { isUtf8 } from 'node:buffer';
import { zstdDecompressSync } from 'node:zlib';
import type { StoreDatabase } from '../../framing/database.ts';
import { recordError, sourceError } from '../../framing/errors.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import { TableShapes } from '../dialects/tables.ts';
import { coldEvent, timedEvent } from './cold.ts';

/** Of one event, by the writer's own check. */
const MAX_EVENT = 4 * 1024 * 1024;
/** Of a whole transcript in one value, decompressed. */
const MAX_ARCHIVE = 512 * 1024 * 1024;

type Row = Readonly<Record<string, unknown>>;

export function* queryEvents(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const compressed = shapes.has('transcript_events', 'event_zstd', 'event_utf8_bytes')
    ? `event_utf8_bytes, ${cappedColumn('event_zstd', Math.max(limit, MAX_EVENT))}`
    : 'NULL AS event_zstd, NULL AS event_utf8_bytes';
  const events = `SELECT seq, created_at, ${cappedColumn('event_json', limit)}, ${compressed}
    FROM transcript_events WHERE session_id = ? ORDER BY seq`;
  let isLive = false;
  for (const row of database.each(events, member)) {
    isLive = true;
    yield { locator: `transcript_events/${member}/${row['seq']}`, value: () => eventOf(row) };
  }
  if (!isLive && !(yield* coldRows(database, shapes, member))) yield* archivedRows(database, shapes, member);
}

/** Returns whether the session is in cold storage, be it in a file. */
function* coldRows(database: StoreDatabase, shapes: TableShapes, member: string): Generator<StoreRow, boolean> {
  const table = 'session_transcript_cold_archives';
  if (!shapes.has(table, 'session_id', 'storage', 'archive_blob')) return false;
  let isCold = false;
  for (const row of database.each(`SELECT archive_blob FROM ${table} WHERE session_id = ?`, member)) {
    isCold = true;
    let number = 0;
    for (const line of linesOf(row['archive_blob'], true)) {
      const parsed = parseOrUndefined(line);
      const kind = asObject(parsed);
      const locator = `${table}/${member}/${number++}`;
      // Rows of indexes lie there too.
      if (kind !== null && nameField(kind, 'kind') !== 'event') continue;
      yield { locator, value: () => coldEvent(jsonOf(line)) };
    }
  }
  return isCold;
}

/** All that was archived of a session; what a later archive repeats is left out. */
function* archivedRows(database: StoreDatabase, shapes: TableShapes, member: string): Generator<StoreRow> {
  const table = 'session_transcript_archives';
  if (!shapes.has(table, 'session_id', 'encoding', 'archive_blob', 'created_at')) return;
  const sql = `SELECT encoding, archive_blob FROM ${table} WHERE session_id = ? ORDER BY created_at, generation`;
  const told = new Set<string>();
  let number = 0;
  for (const row of database.each(sql, member)) {
    for (const line of linesOf(row['archive_blob'], row['encoding'] === 'zstd')) {
      const event = asObject(parseOrUndefined(line));
      const id = event === null ? null : nameField(event, 'id');
      if (id !== null && told.has(id)) continue;
      if (id !== null) told.add(id);
      yield { locator: `${table}/${member}/${number++}`, value: () => jsonOf(line) };
    }
  }
}

function eventOf(row: Row): unknown {
  const { event_zstd: frame, event_utf8_bytes: bytes } = row;
  let event: unknown;
  if (row['event_json'] !== null || !(frame instanceof Uint8Array)) event = jsonColumn(row, 'event_json');
  else {
    if (typeof bytes !== 'number' || bytes > MAX_EVENT)
      throw recordError('wrong_type', 'the compressed event is of no valid length');
    event = jsonOf(decompressed(frame, bytes));
  }
  const object = asObject(event);
  if (object === null) throw recordError('wrong_type', 'the row holds no event');
  return timedEvent(object, row['created_at']);
}

/** Throws a record-scoped error where it does not decompress to just as many bytes of UTF-8. */
function decompressed(frame: Uint8Array, bytes: number): string {
  let text: Buffer;
  try {
    text = zstdDecompressSync(frame, { maxOutputLength: Math.max(1, bytes) });
  } catch {
    throw recordError('damaged_zstd', 'the compressed event cannot be decompressed to its length');
  }
  if (text.length !== bytes || !isUtf8(text))
    throw recordError('damaged_zstd', 'the compressed event is not what its length says');
  return text.toString('utf8');
}

function jsonOf(text: string): unknown {
  const value = parseOrUndefined(text);
  if (value === undefined) throw recordError('malformed_json', 'the event does not parse as JSON');
  return value;
}

/** Lines of a transcript in one value. Throws a source-scoped error where it cannot be decompressed. */
function* linesOf(blob: unknown, isCompressed: boolean): Generator<string, void, undefined> {
  if (!(blob instanceof Uint8Array)) return;
  let bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  if (isCompressed) {
    try {
      bytes = zstdDecompressSync(bytes, { maxOutputLength: MAX_ARCHIVE });
    } catch (error) {
      throw sourceError('damaged_zstd', 'holds an archived transcript that cannot be decompressed', error);
    }
  }
  let from = 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(0x0a, from);
    const line = bytes.toString('utf8', from, end === -1 ? bytes.length : end);
    if (line.trim() !== '') yield line;
    from = end === -1 ? bytes.length : end + 1;
  }
}

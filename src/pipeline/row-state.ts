/** What is remembered of rows that were written, so that only changed ones are written again. */
import { createHash } from 'node:crypto';
import { type TableName, tableNames } from '../records/tables.ts';

/** Layout of an entry: 16 bytes event id, 8 bytes content hash, 4 bytes revision, 1 byte table, 1 byte flags, 2 spare. */
const ENTRY = 32;
const HASH_AT = 16;
const REVISION_AT = 24;
const TABLE_AT = 28;
const FLAGS_AT = 29;
const WITHDRAWN = 1;

const idBytes = (eventId: string): string => Buffer.from(eventId, 'hex').toString('latin1');

/** Texts from this length on are hashed where they are, not copied into one with the rest of the row. */
const LONG_TEXT = 512;

/** Content of a row for comparison: all columns but generation and revision. */
export function contentHash(row: Readonly<Record<string, unknown>>): Buffer {
  const digest = createHash('sha1');
  let rest = '';
  for (const key in row) {
    if (key === 'generation' || key === 'revision') continue;
    const value = row[key];
    if (typeof value === 'string' ? value.length >= LONG_TEXT : value instanceof Uint8Array) {
      // The same whether the text came as a string or as bytes.
      digest.update(value as string | Uint8Array).update(`\u0000${key}\u0000`);
    } else rest += typeof value === 'string' ? `${key}=${value}\u0000` : `${key}:${JSON.stringify(value)}\u0000`;
  }
  return digest.update(rest).digest().subarray(0, 8);
}

export class RowStates {
  private buffer: Buffer;
  private length: number;
  private readonly index = new Map<string, number>();
  private readonly seen = new Set<number>();

  constructor(packed: Uint8Array) {
    this.buffer = Buffer.from(packed);
    this.length = packed.length;
    for (let at = 0; at < this.length; at += ENTRY)
      this.index.set(this.buffer.toString('latin1', at, at + HASH_AT), at);
  }

  /** The revision under which the row is to be written; null where it is written already, just so. */
  admit(table: TableName, eventId: string, content: Buffer): number | null {
    const key = idBytes(eventId);
    const known = this.index.get(key);
    if (known === undefined) {
      const at = this.append(key, table);
      content.copy(this.buffer, at + HASH_AT);
      this.seen.add(at);
      return 0;
    }
    this.seen.add(known);
    if (content.equals(this.buffer.subarray(known + HASH_AT, known + REVISION_AT))) return null;
    content.copy(this.buffer, known + HASH_AT);
    this.buffer[known + FLAGS_AT] = 0;
    return this.raise(known);
  }

  /** Messages that were written once and were not told by this read: each with its next revision. */
  withdraw(): { eventId: string; revision: number }[] {
    const messages = tableNames.indexOf('messages');
    const gone: { eventId: string; revision: number }[] = [];
    for (let at = 0; at < this.length; at += ENTRY) {
      if (this.buffer[at + TABLE_AT] !== messages || this.seen.has(at) || this.buffer[at + FLAGS_AT] === WITHDRAWN)
        continue;
      this.buffer[at + FLAGS_AT] = WITHDRAWN;
      this.buffer.fill(0, at + HASH_AT, at + REVISION_AT);
      gone.push({ eventId: this.buffer.toString('hex', at, at + HASH_AT), revision: this.raise(at) });
    }
    return gone;
  }

  pack(): Uint8Array {
    return new Uint8Array(this.buffer.subarray(0, this.length));
  }

  private raise(at: number): number {
    const revision = this.buffer.readUInt32LE(at + REVISION_AT) + 1;
    this.buffer.writeUInt32LE(revision, at + REVISION_AT);
    return revision;
  }

  private append(key: string, table: TableName): number {
    const at = this.length;
    if (at + ENTRY > this.buffer.length) {
      const larger = Buffer.alloc(Math.max(ENTRY * 64, this.buffer.length * 2));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    this.buffer.fill(0, at, at + ENTRY);
    this.buffer.write(key, at, 'latin1');
    this.buffer[at + TABLE_AT] = tableNames.indexOf(table);
    this.length += ENTRY;
    this.index.set(key, at);
    return at;
  }
}

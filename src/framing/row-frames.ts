/** Rows of a database as frames. */
import { isUtf8 } from 'node:buffer';
import type { StoreDatabase } from './database.ts';
import { recordError } from './errors.ts';
import type { Frame, Position } from './frame.ts';

/** A record of a database, as a format's query gives it. */
export interface StoreRow {
  /** Table and key, like `message/msg_1`: the column `locator`. */
  readonly locator: string;
  /** The record's value; may throw a record-scoped error. Asked for once, before the next row is fetched. */
  readonly value: () => unknown;
}

/**
 * SQL for a column whose values may be huge: null where the value is longer than `limit` bytes, so that it is never
 * fetched; its true length comes along as `<name>_bytes`.
 */
export const cappedColumn = (column: string, limit: number, name: string = column): string =>
  `CASE WHEN octet_length(${column}) <= ${limit} THEN ${column} END AS "${name}", octet_length(${column}) AS "${name}_bytes"`;

/**
 * The JSON value in a column that was selected with `cappedColumn`; null for NULL. Throws a record-scoped error where
 * it was too long, is no text, or does not parse.
 */
export function jsonColumn(row: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = row[name];
  const bytes = row[`${name}_bytes`];
  if (value === null || value === undefined) {
    if (typeof bytes !== 'number') return null;
    throw recordError('record_too_long', `${name} has ${bytes} bytes, over --max-line; raise it to read the record`);
  }
  let text: string;
  if (typeof value === 'string') text = value;
  else if (value instanceof Uint8Array) {
    if (!isUtf8(value)) throw recordError('invalid_utf8', `${name} is not valid UTF-8`);
    text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
  } else throw recordError('wrong_type', `${name} is a number where JSON text should be`);
  try {
    return JSON.parse(text);
  } catch {
    throw recordError('malformed_json', `${name} does not parse as JSON`);
  }
}

class RowFrame implements Frame {
  ordinal = -1;
  readonly byteStart = null;
  readonly byteEnd = null;
  locator = '';
  value: () => unknown = () => null;

  json(): unknown {
    return this.value();
  }

  bytes(): Buffer {
    return Buffer.from(
      JSON.stringify(this.value(), (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
    );
  }

  includes(needle: Buffer): boolean {
    return this.bytes().includes(needle);
  }

  position(): Position {
    return { ordinal: this.ordinal, byteStart: null, byteEnd: null, locator: this.locator };
  }
}

/** The rows as frames, in the order of the query; one object serves all of them. */
export function* rowFrames(rows: Iterable<StoreRow>): Generator<Frame, void, undefined> {
  const frame = new RowFrame();
  for (const { locator, value } of rows) {
    frame.ordinal++;
    frame.locator = locator;
    frame.value = value;
    yield frame;
  }
}

/** How a format reads the records of one member out of its database. */
export type RowQuery = (database: StoreDatabase, member: string, limit: number) => Iterable<StoreRow>;

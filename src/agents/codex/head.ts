/**
 * The start of a line, read without parsing the line. The writer serialises every line as
 * `{"timestamp":"…",["ordinal":N,]"type":"…","payload":{…}}`, and the payloads of items and events begin with their
 * `type`. Most bytes of a rollout are in lines of types that carry no rows (`compacted` alone can hold 50-79 MB of
 * images), so these few bytes decide whether a line is parsed at all. Any other spelling gives null: parse it.
 */
import { holds } from './scan.ts';

export interface LineHead {
  type: string;
  /** `payload.type`; null where the payload does not begin with it. */
  payloadType: string | null;
  ordinal: number | null;
  /** Where the payload's type ends (or the payload begins), for a further look. */
  end: number;
  /** Where the text of the timestamp ends. */
  timeEnd: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const TIMESTAMP = Buffer.from('{"timestamp":"');
const ORDINAL = Buffer.from(',"ordinal":');
const TYPE = Buffer.from(',"type":"');
const PAYLOAD = Buffer.from(',"payload":{');
const PAYLOAD_TYPE = Buffer.from('"type":"');
/** Longer than any time or type that is written. */
const MAX_WORD = 64;

/** Index of the quote that ends a short plain string; -1 where it holds escapes or is too long. */
const wordEnd = (bytes: Buffer, from: number): number => {
  const limit = Math.min(bytes.length, from + MAX_WORD);
  for (let i = from; i < limit; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) return -1;
  }
  return -1;
};

/** Words seen before, by a rough hash: a rollout repeats a few dozen, and making a string costs more than comparing. */
const words: ({ readonly bytes: Buffer; readonly text: string } | undefined)[] = new Array(1024);

function word(bytes: Buffer, start: number, end: number): string {
  const slot =
    ((bytes[start] ?? 0) * 31 + (bytes[start + 3] ?? 0) * 7 + (bytes[end - 1] ?? 0) + (end - start) * 61) & 1023;
  const known = words[slot];
  if (known !== undefined && known.bytes.length === end - start && holds(bytes, start, known.bytes)) return known.text;
  const text = bytes.toString('latin1', start, end);
  words[slot] = { bytes: Buffer.from(bytes.subarray(start, end)), text };
  return text;
}

/** The one object that `readHead` fills: heads are looked at and forgotten. */
const head: LineHead = { type: '', payloadType: null, ordinal: null, end: 0, timeEnd: 0 };

/** Reads the head of a line in the writer's spelling; null for any other. The result is valid until the next call. */
export function readHead(bytes: Buffer): LineHead | null {
  if (!holds(bytes, 0, TIMESTAMP)) return null;
  let at = wordEnd(bytes, TIMESTAMP.length);
  if (at === -1) return null;
  head.timeEnd = at++;
  head.ordinal = null;
  if (holds(bytes, at, ORDINAL)) {
    at += ORDINAL.length;
    let ordinal = 0;
    const digits = at;
    for (let byte = bytes[at]; byte !== undefined && byte >= 0x30 && byte <= 0x39; byte = bytes[++at])
      ordinal = ordinal * 10 + (byte - 0x30);
    if (at === digits || at - digits > 15) return null;
    head.ordinal = ordinal;
  }
  if (!holds(bytes, at, TYPE)) return null;
  const type = at + TYPE.length;
  at = wordEnd(bytes, type);
  if (at === -1 || !holds(bytes, at + 1, PAYLOAD)) return null;
  head.type = word(bytes, type, at);
  head.payloadType = null;
  head.end = at + 1 + PAYLOAD.length;
  if (holds(bytes, head.end, PAYLOAD_TYPE)) {
    const payloadType = head.end + PAYLOAD_TYPE.length;
    const end = wordEnd(bytes, payloadType);
    if (end === -1) return null;
    head.payloadType = word(bytes, payloadType, end);
    head.end = end + 1;
  }
  return head;
}

/** The time of a line whose head was read. */
export const timestampText = (bytes: Buffer, { timeEnd }: LineHead): string =>
  bytes.toString('utf8', TIMESTAMP.length, timeEnd);

/** Events that say something of usage. */
const USAGE_EVENTS = ['token_count"', 'task_started"', 'turn_started"', 'thread_settings_applied"'].map((type) =>
  Buffer.from(type),
);
const EVENT = Buffer.from('event_msg","payload":{"type":"');
/** Types that never do: most bytes are in lines of these. */
const OTHER_LINES = ['response_item"', 'compacted"', 'world_state"'].map((type) => Buffer.from(type));

const isOneOf = (bytes: Buffer, at: number, types: readonly Buffer[]): boolean => {
  for (const type of types) if (holds(bytes, at, type)) return true;
  return false;
};

/** Whether a line matters to usage, by its head; lines in any other spelling do. */
export function mayHoldUsage(bytes: Buffer, start: number, end: number): boolean {
  if (!holds(bytes, start, TIMESTAMP)) return true;
  let at = start + TIMESTAMP.length;
  for (const limit = Math.min(end, at + MAX_WORD); at < limit && bytes[at] !== QUOTE; at++)
    if (bytes[at] === BACKSLASH) return true;
  at++;
  if (holds(bytes, at, ORDINAL)) for (at += ORDINAL.length; at < end && bytes[at] !== 0x2c; at++);
  if (!holds(bytes, at, TYPE)) return true;
  at += TYPE.length;
  if (isOneOf(bytes, at, OTHER_LINES)) return false;
  if (holds(bytes, at, EVENT)) return isOneOf(bytes, at + EVENT.length, USAGE_EVENTS);
  return true;
}

/**
 * Looks into a line without parsing it: is it whole, and what is the value of a member. For the few types that make up
 * the usage path, whose lines are many and mostly hold what nobody asks for. What is not spelled plainly (escapes,
 * fractions) is left to the parser.
 */
import type { Vector } from './usage.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const NULL = Buffer.from('null');

const isEscaped = (bytes: Buffer, quote: number): boolean => {
  let at = quote - 1;
  while (bytes[at] === BACKSLASH) at--;
  return (quote - at) % 2 === 0;
};

/** Index of the quote that closes the string opened before `from`; -1 where it is not closed. */
function stringEnd(bytes: Buffer, from: number): number {
  // Keys and numbers are short: looking byte by byte beats a call into `indexOf`.
  const near = Math.min(bytes.length, from + 32);
  let at = from;
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  let end = bytes.indexOf(QUOTE, at);
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
  return end;
}

/**
 * Whether brackets and strings of a line are closed at its end and not before. A line that was torn off while it was
 * written never is: a line that is not parsed is still known to be damaged.
 */
export function isClosed(bytes: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at + 1);
      if (at === -1) return false;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at === bytes.length - 1;
  }
  return false;
}

/**
 * Whether a line ends as a whole one does: its payload and itself closed. Far cheaper than `isClosed`, and enough for
 * lines of which nothing is used: only one torn off right behind two inner braces is taken for whole.
 */
export const endsWhole = (bytes: Buffer): boolean =>
  bytes[bytes.length - 1] === CLOSE_BRACE && bytes[bytes.length - 2] === CLOSE_BRACE;

/** Index one past the value that begins at `at`; -1 where the line ends first. */
function valueEnd(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = stringEnd(bytes, i + 1);
      if (i === -1) return -1;
      if (depth === 0) return i + 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (byte === COMMA && depth === 0) return i;
  }
  return -1;
}

/** Whether the bytes at `at` are those of the literal. */
export const holds = (bytes: Buffer, at: number, literal: Buffer): boolean => {
  for (let i = 0; i < literal.length; i++) if (bytes[at + i] !== literal[i]) return false;
  return true;
};

/**
 * Index of the value of a member of an object written without spaces, looked for from `at`, where a key or the comma
 * before it stands; -1 where it has none or is spelled otherwise. The first of two members of a name is taken: the
 * writer names none twice.
 */
export function memberValue(bytes: Buffer, at: number, key: Buffer): number {
  let i = at;
  while (i !== -1) {
    if (bytes[i] === COMMA) i++;
    if (bytes[i] !== QUOTE) return -1;
    const end = stringEnd(bytes, i + 1);
    if (end === -1 || bytes[end + 1] !== COLON) return -1;
    if (end - i - 1 === key.length && holds(bytes, i + 1, key)) return end + 2;
    i = valueEnd(bytes, end + 2);
  }
  return -1;
}

/** The string that stands at `at`; null where another value does, or one with escapes. */
export function plainString(bytes: Buffer, at: number): string | null {
  if (bytes[at] !== QUOTE) return null;
  const end = bytes.indexOf(QUOTE, at + 1);
  const text = end === -1 ? null : bytes.toString('utf8', at + 1, end);
  return text === null || text.includes('\\') ? null : text;
}

const VECTOR_FIELDS: readonly (readonly [keyof Vector, Buffer])[] = [
  ['input', Buffer.from('"input_tokens":')],
  ['cached', Buffer.from('"cached_input_tokens":')],
  ['cacheWrite', Buffer.from('"cache_write_input_tokens":')],
  ['output', Buffer.from('"output_tokens":')],
  ['reasoning', Buffer.from('"reasoning_output_tokens":')],
  ['total', Buffer.from('"total_tokens":')],
];

/** The vector object at `at` if it holds the known counters in the writer's order, as plain counts. */
function plainVector(bytes: Buffer, at: number): { vector: Vector; end: number } | null {
  if (bytes[at] !== OPEN_BRACE) return null;
  const vector: { -readonly [K in keyof Vector]: number | null } = {
    input: null,
    cached: null,
    cacheWrite: null,
    output: null,
    reasoning: null,
    total: null,
  };
  let i = at;
  for (const [name, key] of VECTOR_FIELDS) {
    // A brace before the first member, commas before the others.
    if ((i > at && bytes[i] !== COMMA) || !holds(bytes, i + 1, key)) continue;
    const start = i + 1 + key.length;
    let count = 0;
    for (i = start; isDigit(bytes[i]); i++) count = count * 10 + ((bytes[i] ?? 0) - 0x30);
    if (i === start || i - start > 15) return null;
    vector[name] = count;
  }
  return i > at && bytes[i] === CLOSE_BRACE ? { vector, end: i + 1 } : null;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

export interface TokenCount {
  readonly total: Vector | null;
  readonly last: Vector | null;
}

const INFO = Buffer.from(',"info":');
const TOTAL = Buffer.from('{"total_token_usage":');
const LAST = Buffer.from(',"last_token_usage":');

/**
 * The vectors of a `token_count` payload whose `info` stands at `at`, after its type: the writer's spelling. Null where
 * there is no info; undefined where it is spelled otherwise and has to be parsed.
 */
export function scanTokenCount(bytes: Buffer, at: number): TokenCount | null | undefined {
  if (!holds(bytes, at, INFO)) return undefined;
  const info = at + INFO.length;
  if (holds(bytes, info, NULL)) return null;
  if (!holds(bytes, info, TOTAL)) return undefined;
  const total = plainVector(bytes, info + TOTAL.length);
  if (total === null || !holds(bytes, total.end, LAST)) return undefined;
  const last = plainVector(bytes, total.end + LAST.length);
  if (last === null || (bytes[last.end] !== COMMA && bytes[last.end] !== CLOSE_BRACE)) return undefined;
  return { total: total.vector, last: last.vector };
}

/** JSON Lines by byte range, from a bounded buffer. Only byte 0x0A ends a line. */
import { isAscii, isUtf8 } from 'node:buffer';
import type { ByteBudget } from './byte-budget.ts';
import { markLength } from './byte-order-mark.ts';
import type { ByteSource } from './byte-source.ts';
import { recordError } from './errors.ts';
import type { Frame, Position } from './frame.ts';
import type { ReadLimits } from './limits.ts';

const LF = 0x0a;
const CR = 0x0d;
/** Small enough to stay in a core's own cache until its lines are looked at: a tenth is gained over 1 MiB. */
const CHUNK = 256 * 1024;
/** Lines from this size on ask the byte budget of all workers before they are parsed. */
const LARGE_LINE = 4 * 1024 * 1024;
/** Parsing a line holds its bytes, their text and the values at once. */
const PARSE_FACTOR = 4;

/**
 * Values a large line may hold. Text is what makes real lines long; one of millions of tiny values takes thirty times its
 * bytes when it is parsed, and could take the process with it.
 */
const MAX_VALUES = 4_000_000;

/** Whether the line holds more values than `MAX_VALUES`: commas and brackets outside strings are counted. */
function hasTooManyValues(bytes: Buffer): boolean {
  let values = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if ((byte === 0x2c || byte === 0x5b || byte === 0x7b) && ++values > MAX_VALUES) return true;
  }
  return false;
}

const parse = (bytes: Buffer): unknown => {
  if (bytes.length >= LARGE_LINE && hasTooManyValues(bytes)) {
    throw recordError('too_many_values', `the line holds more than ${MAX_VALUES} values`);
  }
  // JSON text of ASCII bytes becomes a one-byte string without decoding.
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw recordError('invalid_utf8', 'the line is not valid UTF-8');
  try {
    return JSON.parse(bytes.toString(ascii ? 'latin1' : 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw recordError('malformed_json', 'the line is not one JSON value');
    throw recordError('unparsable', `the line cannot be parsed: ${(error as Error).message}`);
  }
};

class LineFrame implements Frame {
  ordinal = -1;
  byteStart = 0;
  byteEnd = 0;
  readonly locator = null;
  oversized = false;
  lineEnd = '\n';
  buffer: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  private readonly limits: ReadLimits;
  private readonly budget: ByteBudget | null;

  constructor(limits: ReadLimits, budget: ByteBudget | null) {
    this.limits = limits;
    this.budget = budget;
  }

  json(): unknown {
    if (this.oversized) {
      const length = this.byteEnd - this.byteStart;
      throw recordError(
        'line_too_long',
        `the line has ${length} bytes, over --max-line ${this.limits.maxLine}; raise it to read the line`,
      );
    }
    const size = this.end - this.start;
    if (size < LARGE_LINE || this.budget === null) return parse(this.bytes());
    return this.budget.during(size * PARSE_FACTOR, () => parse(this.bytes()));
  }

  bytes(): Buffer {
    return this.buffer.subarray(this.start, this.end);
  }

  includes(needle: Buffer): boolean {
    // Over the line only: a search that runs on to the end of the buffer would be quadratic.
    return this.bytes().includes(needle);
  }

  position(): Position {
    return { ordinal: this.ordinal, byteStart: this.byteStart, byteEnd: this.byteEnd, locator: null };
  }
}

/** Whether a line may hold what is looked for; told by its first bytes, mostly. */
export type LineFilter = (bytes: Buffer, start: number, end: number) => boolean;

/**
 * Frames the lines of a source. Iterate `frames()` once; the other members say afterwards how it ended.
 *
 * Blank lines are no records. NUL bytes before a record (holes that a crash left) are skipped, and so is a byte order
 * mark before the first. A line over
 * `limits.maxLine` is drained without being buffered: its frame's `json()` throws. An unterminated last line is not a
 * record: `tornBytes` tells its length.
 */
export class JsonlReader {
  /** One past the last complete line and its line end. */
  lastCompleteByte: number;
  /** Length of the unterminated last line; 0 = clean end. */
  tornBytes = 0;
  records: number;
  private readonly source: ByteSource;
  private readonly limits: ReadLimits;
  private readonly budget: ByteBudget | null;
  private readonly onProgress: ((bytes: number) => void) | null;
  private readonly chunkBytes: number;
  private readonly only: Buffer | null;
  private readonly keepsBlank: boolean;
  private readonly accepts: LineFilter | null;

  constructor(
    source: ByteSource,
    limits: ReadLimits,
    options: {
      from?: { byte: number; ordinal: number };
      budget?: ByteBudget | null;
      onProgress?: (bytes: number) => void;
      /** Size of the buffer to begin with. */
      chunkBytes?: number;
      /** Lines without these bytes are counted, but not given (nor checked); those over the limit are. */
      only?: Buffer | null;
      /** The same by a look at the line, which stands at `start` to `end` of `bytes`. */
      accepts?: LineFilter | null;
      /** Blank lines are records too: of text, not of JSON. */
      keepsBlank?: boolean;
    } = {},
  ) {
    this.source = source;
    this.limits = limits;
    this.budget = options.budget ?? null;
    this.onProgress = options.onProgress ?? null;
    this.chunkBytes = options.chunkBytes ?? CHUNK;
    this.only = options.only ?? null;
    this.accepts = options.accepts ?? null;
    this.keepsBlank = options.keepsBlank ?? false;
    this.lastCompleteByte = options.from?.byte ?? 0;
    this.records = options.from?.ordinal ?? 0;
  }

  *frames(): Generator<Frame, void, undefined> {
    const frame = new LineFrame(this.limits, this.budget);
    const { whole } = this.source;
    let buffer = whole ?? takeBuffer(this.chunkBytes);
    /** Position in the source of buffer[0]. */
    let base = whole === null ? this.lastCompleteByte : 0;
    let filled = whole?.length ?? 0;
    let lineStart = this.lastCompleteByte - base;
    let scanned = lineStart;
    if (whole !== null) this.onProgress?.(whole.length - lineStart);
    /** Source position at which a line that is being drained began; -1 = none. */
    let draining = -1;
    /** Where `only` stands next in the buffer, at or after the line; -1 = not looked for since the buffer changed. */
    let hit = -1;
    try {
      for (;;) {
        const newline = scanned < filled ? buffer.indexOf(LF, scanned) : -1;
        // Beyond `filled` the buffer holds what an earlier read left.
        if (newline === -1 || newline >= filled) {
          if (whole !== null) break;
          scanned = filled;
          if (draining === -1 && filled - lineStart > this.limits.maxLine) draining = base + lineStart;
          if (draining !== -1) {
            base += filled;
            filled = lineStart = scanned = 0;
          } else if (lineStart > 0) {
            buffer.copyWithin(0, lineStart, filled);
            base += lineStart;
            filled -= lineStart;
            scanned -= lineStart;
            lineStart = 0;
          }
          if (filled === buffer.length) buffer = growBuffer(buffer, filled);
          const room = Math.min(buffer.length - filled, this.source.size - base - filled);
          const read = room > 0 ? this.source.read(buffer, filled, room, base + filled) : 0;
          hit = -1;
          if (read === 0) break;
          this.onProgress?.(read);
          filled += read;
          continue;
        }
        const next = newline + 1;
        const isFirst = base + lineStart === 0 && draining === -1;
        const begin = isFirst ? Math.min(newline, markLength(buffer)) : lineStart;
        const start = draining === -1 ? skipNul(buffer, begin, newline) : begin;
        let end = newline;
        if (end > start && buffer[end - 1] === CR) end--;
        this.lastCompleteByte = base + next;
        const tooLong = draining !== -1 || end - start > this.limits.maxLine;
        if (this.accepts !== null && !tooLong && !this.accepts(buffer, start, end)) {
          if (!isBlank(buffer, start, end)) this.records++;
          lineStart = scanned = next;
          continue;
        }
        if (this.only !== null && !tooLong) {
          // One search serves all the lines before the next hit.
          if (hit < start) hit = buffer.indexOf(this.only, start);
          if (hit === -1) hit = filled;
          if (hit >= end) {
            if (!isBlank(buffer, start, end)) this.records++;
            lineStart = scanned = next;
            continue;
          }
        }
        if (tooLong || this.keepsBlank || !isBlank(buffer, start, end)) {
          frame.ordinal = this.records++;
          frame.byteStart = draining === -1 ? base + start : draining;
          frame.byteEnd = base + end;
          frame.oversized = tooLong;
          frame.lineEnd = end === newline ? '\n' : '\r\n';
          frame.buffer = buffer;
          frame.start = tooLong ? 0 : start;
          frame.end = tooLong ? 0 : end;
          lineStart = scanned = next;
          draining = -1;
          yield frame;
        } else {
          lineStart = scanned = next;
        }
      }
      this.tornBytes = this.source.size - this.lastCompleteByte;
    } finally {
      if (whole === null) giveBuffer(buffer);
    }
  }
}

const skipNul = (buffer: Buffer, start: number, end: number): number => {
  let at = start;
  while (at < end && buffer[at] === 0) at++;
  return at;
};

const isBlank = (buffer: Buffer, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) {
    const byte = buffer[i]!;
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
};

/** One idle buffer is kept: most sources are read with the same one. */
let idle: Buffer | null = null;

const takeBuffer = (size: number): Buffer => {
  if (idle === null || idle.length !== size) return Buffer.allocUnsafeSlow(size);
  const buffer = idle;
  idle = null;
  return buffer;
};

/** A buffer that one long line blew up is not kept. */
const giveBuffer = (buffer: Buffer): void => {
  if (buffer.length === CHUNK) idle = buffer;
};

const growBuffer = (buffer: Buffer, filled: number): Buffer => {
  const larger = Buffer.allocUnsafeSlow(buffer.length * 2);
  buffer.copy(larger, 0, 0, filled);
  return larger;
};

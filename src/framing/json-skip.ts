/**
 * Passes over JSON values in bytes, strings four bytes at a time: positions only, nothing is built. The engine under
 * `ObjectScanner`.
 */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const MINUS = 0x2d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const DIGIT_0 = 0x30;
export const DIGIT_9 = 0x39;
/** Bytes below it must be escaped in a string. */
export const SPACE = 0x20;

/**
 * Four bytes at a time: a byte of `x = word ^ QUOTES` is zero where the word holds a quote, and the top bit of
 * `((x & LOW_BITS) + LOW_BITS) | x` is clear for zero bytes only. No carry leaves a byte, so every top bit is exact.
 */
export const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const LOW_BITS = 0x7f7f7f7f;
/** As a signed integer, so that masks never become doubles. */
const TOP_BITS = 0x80808080 | 0;

/** `strict`: accept exactly what `JSON.parse` accepts. `loose`: leave escapes and control bytes in strings unchecked. */
export type ScanMode = 'strict' | 'loose';

export class JsonSkipper {
  /** The memory that the bytes lie in; all positions are offsets into it. */
  protected bytes: Uint8Array = new Uint8Array(0);
  private words: Int32Array = new Int32Array(0);
  /** Where the bytes that are looked at end. */
  protected end = 0;
  /** Opening brackets of the containers that are being passed over. */
  private nesting = new Uint8Array(64);
  private readonly strict: boolean;

  constructor(mode: ScanMode) {
    this.strict = mode === 'strict';
  }

  protected useMemory(buffer: ArrayBufferLike): void {
    this.bytes = new Uint8Array(buffer);
    this.words = new Int32Array(buffer, 0, buffer.byteLength >> 2);
  }

  protected skipSpace(from: number): number {
    let i = from;
    const end = this.end;
    while (i < end) {
      const c = this.bytes[i]!;
      if (c !== SPACE && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
      i++;
    }
    return i;
  }

  /** Position after the value at `start`; -1 where malformed. */
  protected skipValue(start: number): number {
    if (start >= this.end) return -1;
    const c = this.bytes[start]!;
    if (c === QUOTE) return this.skipString(start + 1);
    if (c === OPEN_BRACE || c === OPEN_BRACKET) return this.skipContainer(start);
    return this.skipScalar(start);
  }

  /** An object or array of any depth, without recursion: a store must not be able to blow the stack. */
  private skipContainer(start: number): number {
    const { bytes, end } = this;
    let depth = 0;
    let i = start;
    for (;;) {
      // A value stands here.
      if (i < end && bytes[i]! <= SPACE) i = this.skipSpace(i);
      if (i >= end) return -1;
      const c = bytes[i]!;
      if (c === QUOTE) i = this.skipString(i + 1);
      else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        this.push(depth++, c);
        i = this.skipSpace(i + 1);
        if (i >= end) return -1;
        if (bytes[i] !== c + 2) {
          if (c === OPEN_BRACE) i = this.skipKey(i);
          if (i === -1) return -1;
          continue;
        }
        // Empty: what follows is as after any other value.
        i++;
        depth--;
      } else i = this.skipScalar(i);
      if (i === -1) return -1;
      // Closes, then a comma before the next value.
      for (;;) {
        if (depth === 0) return i;
        if (i < end && bytes[i]! <= SPACE) i = this.skipSpace(i);
        if (i >= end) return -1;
        const opened = this.nesting[depth - 1]!;
        const after = bytes[i]!;
        i++;
        if (after === COMMA) {
          if (opened === OPEN_BRACE) i = this.skipKey(this.skipSpace(i));
          if (i === -1) return -1;
          break;
        }
        if (after !== opened + 2) return -1;
        depth--;
      }
    }
  }

  private push(depth: number, opened: number): void {
    if (depth === this.nesting.length) {
      const deeper = new Uint8Array(depth * 2);
      deeper.set(this.nesting);
      this.nesting = deeper;
    }
    this.nesting[depth] = opened;
  }

  /** Position after the key at `start` and its colon. */
  private skipKey(start: number): number {
    if (start >= this.end || this.bytes[start] !== QUOTE) return -1;
    const after = this.skipString(start + 1);
    if (after === -1) return -1;
    const colon = this.skipSpace(after);
    return colon < this.end && this.bytes[colon] === COLON ? colon + 1 : -1;
  }

  /** Position after a number, `true`, `false` or `null`. */
  private skipScalar(start: number): number {
    const { bytes, end } = this;
    const c = bytes[start]!;
    if (c === 0x74) return this.skipLiteral(start, 0x72, 0x75, 0x65, -1);
    if (c === 0x66) return this.skipLiteral(start, 0x61, 0x6c, 0x73, 0x65);
    if (c === 0x6e) return this.skipLiteral(start, 0x75, 0x6c, 0x6c, -1);
    let i = c === MINUS ? start + 1 : start;
    if (i >= end || !isDigit(bytes[i]!)) return -1;
    if (bytes[i] === DIGIT_0) i++;
    else i = this.skipDigits(i);
    if (i < end && bytes[i] === 0x2e) {
      const digits = i + 1;
      i = this.skipDigits(digits);
      if (i === digits) return -1;
    }
    if (i < end && (bytes[i] === 0x65 || bytes[i] === 0x45)) {
      i++;
      if (i < end && (bytes[i] === 0x2b || bytes[i] === MINUS)) i++;
      const digits = i;
      i = this.skipDigits(digits);
      if (i === digits) return -1;
    }
    return i;
  }

  private skipDigits(from: number): number {
    let i = from;
    while (i < this.end && isDigit(this.bytes[i]!)) i++;
    return i;
  }

  /** The three or four bytes after a literal's first one. */
  private skipLiteral(start: number, a: number, b: number, c: number, d: number): number {
    const { bytes } = this;
    const stop = start + (d === -1 ? 4 : 5);
    if (stop > this.end) return -1;
    if (bytes[start + 1] !== a || bytes[start + 2] !== b || bytes[start + 3] !== c) return -1;
    return d === -1 || bytes[start + 4] === d ? stop : -1;
  }

  /** Position after the closing quote of the string whose contents start at `from`; -1 where it has none. */
  protected skipString(from: number): number {
    return this.strict ? this.skipStringStrictly(from) : this.skipStringLoosely(from);
  }

  /** Only the closing quote matters: the first one with an even number of backslashes before it. */
  private skipStringLoosely(from: number): number {
    const { bytes, words, end } = this;
    const lastWord = end >> 2;
    let i = from;
    for (;;) {
      for (; (i & 3) !== 0; i++) {
        if (i >= end) return -1;
        if (bytes[i] === QUOTE && (bytes[i - 1] !== BACKSLASH || this.isUnescaped(i))) return i + 1;
      }
      let word = i >> 2;
      for (; word < lastWord; word++) {
        const x = words[word]! ^ QUOTES;
        if (((x - 0x01010101) & ~x & TOP_BITS) !== 0) break;
      }
      i = word << 2;
      for (const stop = i + 4; i < stop; i++) {
        if (i >= end) return -1;
        if (bytes[i] === QUOTE && (bytes[i - 1] !== BACKSLASH || this.isUnescaped(i))) return i + 1;
      }
    }
  }

  private isUnescaped(quote: number): boolean {
    let i = quote - 1;
    while (this.bytes[i] === BACKSLASH) i--;
    return ((quote - i) & 1) === 1;
  }

  /** As above, but escapes and control bytes are checked as well. */
  private skipStringStrictly(from: number): number {
    const { bytes, words, end } = this;
    const wordEnd = Math.min((end + 3) >> 2, words.length);
    let i = from;
    for (;;) {
      let word = i >> 2;
      let mask = TOP_BITS << ((i & 3) << 3);
      let found = 0;
      for (; word < wordEnd; word++) {
        const w = words[word]!;
        const q = w ^ QUOTES;
        const b = w ^ BACKSLASHES;
        const low = w & LOW_BITS;
        found =
          ~((((q & LOW_BITS) + LOW_BITS) | q) & (((b & LOW_BITS) + LOW_BITS) | b) & ((low + 0x60606060) | w)) & mask;
        if (found !== 0) break;
        mask = TOP_BITS;
      }
      if (found !== 0) i = (word << 2) + ((Math.clz32(found & (~found + 1)) ^ 31) >> 3);
      else {
        i = Math.max(word << 2, i);
        while (i < end && bytes[i] !== QUOTE && bytes[i] !== BACKSLASH && bytes[i]! >= SPACE) i++;
      }
      if (i >= end) return -1;
      const c = bytes[i]!;
      if (c === QUOTE) return i + 1;
      if (c !== BACKSLASH) return -1;
      i = this.skipEscape(i + 1);
      if (i === -1) return -1;
    }
  }

  private skipEscape(at: number): number {
    if (at >= this.end) return -1;
    const c = this.bytes[at]!;
    if (c === 0x6e || c === QUOTE || c === BACKSLASH || c === 0x74 || c === 0x72) return at + 1;
    if (c === 0x2f || c === 0x62 || c === 0x66) return at + 1;
    if (c !== 0x75 || at + 5 > this.end) return -1;
    for (let i = at + 1; i < at + 5; i++) if (!isHexDigit(this.bytes[i]!)) return -1;
    return at + 5;
  }
}

export const isDigit = (c: number): boolean => c >= DIGIT_0 && c <= DIGIT_9;
const isHexDigit = (c: number): boolean => isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);

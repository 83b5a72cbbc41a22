/**
 * Finds the values of wanted keys in the bytes of one JSON object, without parsing the rest: strings are skipped four
 * bytes at a time, and nothing is allocated for what is not asked for.
 *
 * The answer is that of `JSON.parse` for any order of keys, white space and escapes: the last of equal keys counts,
 * and a key of a nested object counts only while no later value has replaced that object.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
/** Bytes below it must be escaped in a string. */
const SPACE = 0x20;

/**
 * Four bytes at a time: a byte of `x = word ^ QUOTES` is zero where the word holds a quote, and the top bit of
 * `((x & LOW_BITS) + LOW_BITS) | x` is clear for zero bytes only. No carry leaves a byte, so every top bit is exact.
 */
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const LOW_BITS = 0x7f7f7f7f;
/** As a signed integer, so that masks never become doubles. */
const TOP_BITS = 0x80808080 | 0;

/** `strict`: accept exactly what `JSON.parse` accepts. `loose`: leave escapes and control bytes in strings unchecked. */
export type ScanMode = 'strict' | 'loose';

/** Wanted keys of one object. Keys are found by a hash of length, first and last byte. */
interface Level {
  readonly keys: readonly string[];
  readonly keyBytes: readonly Uint8Array[];
  /** Hash -> first candidate; -1 = none. */
  readonly heads: Int8Array;
  /** Candidate -> next candidate of the same hash; -1 = none. */
  readonly nexts: Int8Array;
  /** Slot of the key itself; -1 = only keys below it are wanted. */
  readonly slots: Int16Array;
  readonly children: readonly (Level | null)[];
  /** All slots below the key at this index. */
  readonly below: readonly (readonly number[])[];
}

const hashKey = (length: number, first: number, last: number): number => (length * 7 + first * 3 + last) & 63;

function buildLevel(paths: readonly (readonly [slot: number, path: readonly string[]])[]): Level {
  const keys = [...new Set(paths.map(([, path]) => path[0]!))];
  const keyBytes = keys.map((key) => Buffer.from(key, 'utf8'));
  const heads = new Int8Array(64).fill(-1);
  const nexts = new Int8Array(keys.length).fill(-1);
  const slots = new Int16Array(keys.length).fill(-1);
  const children: (Level | null)[] = [];
  const below: number[][] = [];
  keys.forEach((key, index) => {
    const bytes = keyBytes[index]!;
    const hash = hashKey(bytes.length, bytes[0] ?? 0, bytes.at(-1) ?? 0);
    nexts[index] = heads[hash]!;
    heads[hash] = index;
    const own = paths.filter(([, path]) => path[0] === key);
    for (const [slot, path] of own) if (path.length === 1) slots[index] = slot;
    const deeper = own.filter(([, path]) => path.length > 1).map(([slot, path]) => [slot, path.slice(1)] as const);
    children.push(deeper.length === 0 ? null : buildLevel(deeper));
    below.push(deeper.map(([slot]) => slot));
  });
  return { keys, keyBytes, heads, nexts, slots, children, below };
}

export class ObjectScanner {
  /** Where each wanted value starts, by the index of its path; -1 = absent. Offsets into `memory`. */
  readonly starts: Int32Array;
  /** One past each wanted value's last byte. */
  readonly ends: Int32Array;
  /** The memory that the scanned bytes lie in. */
  memory: Buffer = Buffer.alloc(0);
  private bytes: Uint8Array = new Uint8Array(0);
  private words: Int32Array = new Int32Array(0);
  private end = 0;
  private nesting = new Uint8Array(64);
  private readonly root: Level;
  private readonly strict: boolean;

  /** `paths` name wanted values by key, nested ones with dots: `['type', 'message', 'message.id']`. */
  constructor(paths: readonly string[], mode: ScanMode) {
    this.root = buildLevel(paths.map((path, slot) => [slot, path.split('.')] as const));
    this.starts = new Int32Array(paths.length).fill(-1);
    this.ends = new Int32Array(paths.length).fill(-1);
    this.strict = mode === 'strict';
  }

  /**
   * Scans `bytes`, which hold one JSON object and perhaps white space around it. False where they do not, or (as far
   * as the mode looks) where `JSON.parse` would throw; what was found is then void. UTF-8 is not checked.
   */
  scan(bytes: Uint8Array): boolean {
    this.starts.fill(-1);
    if (bytes.buffer !== this.bytes.buffer) this.mapMemory(bytes.buffer);
    const begin = bytes.byteOffset;
    this.end = begin + bytes.length;
    const open = this.skipSpace(begin);
    if (open >= this.end || this.bytes[open] !== OPEN_BRACE) return false;
    const close = this.scanMembers(open + 1, this.root);
    return close !== -1 && this.skipSpace(close) === this.end;
  }

  has(slot: number): boolean {
    return this.starts[slot]! !== -1;
  }

  isString(slot: number): boolean {
    const start = this.starts[slot]!;
    return start !== -1 && this.bytes[start] === QUOTE;
  }

  isObject(slot: number): boolean {
    const start = this.starts[slot]!;
    return start !== -1 && this.bytes[start] === OPEN_BRACE;
  }

  isArray(slot: number): boolean {
    const start = this.starts[slot]!;
    return start !== -1 && this.bytes[start] === OPEN_BRACKET;
  }

  /** Whether the value is the literal `true`. */
  isTrue(slot: number): boolean {
    // No other value starts with 't'.
    const start = this.starts[slot]!;
    return start !== -1 && this.bytes[start] === 0x74;
  }

  /** Whether the value is there and not the literal `null`. */
  isPresent(slot: number): boolean {
    const start = this.starts[slot]!;
    return start !== -1 && this.bytes[start] !== 0x6e;
  }

  /** Whether the value is this string. `text` is ASCII without quotes and backslashes. */
  equals(slot: number, text: string): boolean {
    const start = this.starts[slot]!;
    if (start === -1 || this.bytes[start] !== QUOTE) return false;
    const length = this.ends[slot]! - start - 2;
    if (length !== text.length) return length > text.length && this.isEscaped(slot) && this.text(slot) === text;
    for (let i = 0; i < length; i++) if (this.bytes[start + 1 + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  /** The value where it is a string; null for anything else. */
  text(slot: number): string | null {
    const start = this.starts[slot]!;
    if (start === -1 || this.bytes[start] !== QUOTE) return null;
    const end = this.ends[slot]!;
    if (this.isEscaped(slot)) return parseString(this.memory, start, end);
    return this.memory.utf8Slice(start + 1, end - 1);
  }

  /** The value where it is a number; null for anything else, and for what no double can hold. */
  number(slot: number): number | null {
    const start = this.starts[slot]!;
    if (start === -1) return null;
    const end = this.ends[slot]!;
    let value = 0;
    for (let i = start; i < end; i++) {
      const digit = this.bytes[i]! - DIGIT_0;
      if (digit < 0 || digit > 9 || i - start > 14) return this.otherNumber(start, end);
      value = value * 10 + digit;
    }
    return value;
  }

  /** Whether a string value holds a backslash, so that its bytes are not its text. */
  isEscaped(slot: number): boolean {
    const start = this.starts[slot]!;
    const end = this.ends[slot]!;
    if (end - start > 64) {
      const at = this.memory.subarray(start, end).indexOf(BACKSLASH);
      return at !== -1;
    }
    for (let i = start; i < end; i++) if (this.bytes[i] === BACKSLASH) return true;
    return false;
  }

  /** The value's bytes: a view that lives as long as the scanned bytes. Throws a `RangeError` where it is absent. */
  raw(slot: number): Buffer {
    const start = this.starts[slot]!;
    if (start === -1) throw new RangeError('the value is absent');
    return this.memory.subarray(start, this.ends[slot]!);
  }

  /** The value, parsed; undefined where it is absent. */
  parse(slot: number): unknown {
    if (this.starts[slot]! === -1) return undefined;
    return JSON.parse(this.memory.utf8Slice(this.starts[slot]!, this.ends[slot]!));
  }

  /** The elements of an array value, as views that live as long as the scanned bytes; empty for anything else. */
  elements(slot: number): Buffer[] {
    if (!this.isArray(slot)) return [];
    const views: Buffer[] = [];
    let i = this.skipSpace(this.starts[slot]! + 1);
    while (i !== -1 && i < this.end && this.bytes[i] !== CLOSE_BRACKET) {
      const after = this.skipValue(i);
      if (after === -1) break;
      views.push(this.memory.subarray(i, after));
      i = this.skipSpace(after);
      if (this.bytes[i] === COMMA) i = this.skipSpace(i + 1);
    }
    return views;
  }

  private mapMemory(buffer: ArrayBufferLike): void {
    this.bytes = new Uint8Array(buffer);
    this.words = new Int32Array(buffer, 0, buffer.byteLength >> 2);
    this.memory = Buffer.from(buffer as ArrayBuffer);
  }

  private otherNumber(start: number, end: number): number | null {
    const first = this.bytes[start]!;
    if (first !== MINUS && (first < DIGIT_0 || first > DIGIT_9)) return null;
    const value = Number(this.memory.latin1Slice(start, end));
    return Number.isFinite(value) ? value : null;
  }

  private skipSpace(from: number): number {
    let i = from;
    const end = this.end;
    while (i < end) {
      const c = this.bytes[i]!;
      if (c !== SPACE && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
      i++;
    }
    return i;
  }

  /** Members of an object whose brace opened before `from`: position after its closing brace, -1 where malformed. */
  private scanMembers(from: number, level: Level): number {
    const { bytes, end } = this;
    let i = this.skipSpace(from);
    if (i < end && bytes[i] === CLOSE_BRACE) return i + 1;
    for (;;) {
      if (i >= end || bytes[i] !== QUOTE) return -1;
      const keyStart = i + 1;
      let keyEnd = keyStart;
      while (keyEnd < end && bytes[keyEnd] !== QUOTE && bytes[keyEnd] !== BACKSLASH && bytes[keyEnd]! >= SPACE) keyEnd++;
      let index = -1;
      if (bytes[keyEnd] === QUOTE && keyEnd < end) {
        index = this.findKey(level, keyStart, keyEnd);
      } else {
        keyEnd = this.skipString(keyStart) - 1;
        if (keyEnd < 0) return -1;
        const key = parseString(this.memory, keyStart - 1, keyEnd + 1);
        if (key === null) return -1;
        index = level.keys.indexOf(key);
      }
      i = this.skipSpace(keyEnd + 1);
      if (i >= end || bytes[i] !== COLON) return -1;
      i = this.skipSpace(i + 1);
      i = index === -1 ? this.skipValue(i) : this.takeValue(i, level, index);
      if (i === -1) return -1;
      i = this.skipSpace(i);
      if (i >= end) return -1;
      if (bytes[i] === CLOSE_BRACE) return i + 1;
      if (bytes[i] !== COMMA) return -1;
      i = this.skipSpace(i + 1);
    }
  }

  private findKey(level: Level, start: number, end: number): number {
    const { bytes } = this;
    const length = end - start;
    if (length === 0) return level.keys.indexOf('');
    let index = level.heads[hashKey(length, bytes[start]!, bytes[end - 1]!)]!;
    for (; index !== -1; index = level.nexts[index]!) {
      const key = level.keyBytes[index]!;
      if (key.length !== length) continue;
      let i = 0;
      while (i < length && bytes[start + i] === key[i]) i++;
      if (i === length) return index;
    }
    return -1;
  }

  private takeValue(start: number, level: Level, index: number): number {
    const slot = level.slots[index]!;
    const child = level.children[index]!;
    let end: number;
    if (child === null) end = this.skipValue(start);
    else {
      for (const inner of level.below[index]!) this.starts[inner] = -1;
      const isObject = start < this.end && this.bytes[start] === OPEN_BRACE;
      end = isObject ? this.scanMembers(start + 1, child) : this.skipValue(start);
    }
    if (slot !== -1) {
      this.starts[slot] = start;
      this.ends[slot] = end;
    }
    return end;
  }

  /** Position after the value at `start`; -1 where malformed. */
  private skipValue(start: number): number {
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
  private skipString(from: number): number {
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
        found = ~((((q & LOW_BITS) + LOW_BITS) | q) & (((b & LOW_BITS) + LOW_BITS) | b) & ((low + 0x60606060) | w)) & mask;
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

const isDigit = (c: number): boolean => c >= DIGIT_0 && c <= DIGIT_9;
const isHexDigit = (c: number): boolean => isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);

/** The string whose JSON text is memory[start, end); null where it is malformed. */
const parseString = (memory: Buffer, start: number, end: number): string | null => {
  try {
    const value: unknown = JSON.parse(memory.utf8Slice(start, end));
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
};

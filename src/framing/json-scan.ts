/**
 * Finds the values of wanted keys in the bytes of one JSON object, without parsing the rest: nothing is allocated
 * for what is not asked for.
 *
 * The answer is that of `JSON.parse` for any order of keys, white space and escapes: the last of equal keys counts,
 * and a key of a nested object counts only while no later value has replaced that object.
 */

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DIGIT_0,
  DIGIT_9,
  JsonSkipper,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  type ScanMode,
  SPACE,
} from './json-skip.ts';

export type { ScanMode };

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

/** Wanted values, prepared once for any number of scanners. */
export interface ScanPaths {
  readonly count: number;
  readonly root: Level;
}

/** Names wanted values by key, nested ones with dots: `['type', 'message', 'message.id']`. Slots count from 0. */
export const scanPaths = (paths: readonly string[], isWanted: (path: string) => boolean = () => true): ScanPaths => ({
  count: paths.length,
  root: buildLevel(paths.flatMap((path, slot) => (isWanted(path) ? [[slot, path.split('.')] as const] : []))),
});

export class ObjectScanner extends JsonSkipper {
  /** Where each wanted value starts, by slot; -1 = absent. Offsets into `memory`. */
  readonly starts: Int32Array;
  /** One past each wanted value's last byte. */
  readonly ends: Int32Array;
  /** The memory that the scanned bytes lie in. */
  memory: Buffer = Buffer.alloc(0);
  private readonly root: Level;

  constructor(paths: ScanPaths, mode: ScanMode) {
    super(mode);
    this.root = paths.root;
    this.starts = new Int32Array(paths.count).fill(-1);
    this.ends = new Int32Array(paths.count).fill(-1);
  }

  /**
   * Scans `bytes`, which hold one JSON object and perhaps white space around it. False where they do not, or (as far
   * as the mode looks) where `JSON.parse` would throw; what was found is then void. UTF-8 is not checked.
   */
  scan(bytes: Uint8Array): boolean {
    this.starts.fill(-1);
    if (bytes.buffer !== this.bytes.buffer) this.useMemory(bytes.buffer);
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
    return this.memory.toString('utf8', start + 1, end - 1);
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
    return JSON.parse(this.memory.toString('utf8', this.starts[slot]!, this.ends[slot]!));
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

  protected override useMemory(buffer: ArrayBufferLike): void {
    super.useMemory(buffer);
    this.memory = Buffer.from(buffer as ArrayBuffer);
  }

  private otherNumber(start: number, end: number): number | null {
    const first = this.bytes[start]!;
    if (first !== MINUS && (first < DIGIT_0 || first > DIGIT_9)) return null;
    const value = Number(this.memory.toString('latin1', start, end));
    return Number.isFinite(value) ? value : null;
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
      while (keyEnd < end && bytes[keyEnd] !== QUOTE && bytes[keyEnd] !== BACKSLASH && bytes[keyEnd]! >= SPACE)
        keyEnd++;
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
}

/** The string whose JSON text is memory[start, end); null where it is malformed. */
const parseString = (memory: Buffer, start: number, end: number): string | null => {
  try {
    const value: unknown = JSON.parse(memory.toString('utf8', start, end));
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
};

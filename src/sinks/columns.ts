/**
 * Column buffers: the cells of a row group or batch, column by column, in typed arrays that are kept for the next one.
 * Everything is copied in: the rows' strings and bytes may go as soon as `append` is back.
 */
import type { Column, TableName } from '../records/tables.ts';
import { CellChecks, CellError, microsOf } from './cells.ts';
import { ByteBuffer, validUtf8, wellFormed } from './text.ts';

const FIRST_ROWS = 256;
const FIRST_BYTES = 4096;
/** Memory of a text column that is kept from one row group to the next. */
const KEPT_BYTES = 20 * 1024 * 1024;
/** Offsets are 32-bit in Arrow and in Parquet pages. */
const MAX_BYTES = 0x7fffffff;

function grown<T extends Int32Array | Float64Array | Uint8Array>(array: T, length: number): T {
  const larger = new (array.constructor as new (size: number) => T)(length);
  larger.set(array);
  return larger;
}

/** What all columns share: how many cells, and which of them are null. */
export abstract class ColumnBuffer {
  readonly column: Column;
  length = 0;
  nullCount = 0;
  /** Bit i is 1 where cell i holds a value, least significant bit first, as Arrow has it. */
  validity = new Uint8Array(FIRST_ROWS / 8);
  protected readonly checks: CellChecks;

  constructor(table: TableName, column: Column) {
    this.column = column;
    this.checks = new CellChecks(table, column);
  }

  /** Stores a value as cell `at` and gives the bytes it takes, or throws `CellError` and stores none. */
  protected abstract put(value: unknown, at: number): number;
  protected abstract putNull(at: number): number;

  /** Adds a cell and gives the bytes it takes, or throws `CellError` and adds none. */
  append(value: unknown): number {
    const at = this.length;
    if (at >> 3 >= this.validity.length) this.validity = grown(this.validity, this.validity.length * 2);
    let bytes: number;
    if (value === null || value === undefined) {
      this.checks.requireNullable();
      bytes = this.putNull(at);
      this.nullCount++;
    } else {
      bytes = this.put(value, at);
      this.validity[at >> 3]! |= 1 << (at & 7);
    }
    this.length = at + 1;
    return bytes;
  }

  isNull(at: number): boolean {
    return (this.validity[at >> 3]! & (1 << (at & 7))) === 0;
  }

  /** Takes the last cell away. */
  pop(): void {
    const at = --this.length;
    if (this.isNull(at)) this.nullCount--;
    this.validity[at >> 3]! &= ~(1 << (at & 7));
  }

  reset(): void {
    this.length = 0;
    this.nullCount = 0;
    this.validity.fill(0);
  }
}

/** Counts, as 64-bit integers. */
export class IntColumn extends ColumnBuffer {
  values = new BigInt64Array(FIRST_ROWS);
  #halves = new Int32Array(this.values.buffer);

  protected put(value: unknown, at: number): number {
    return this.set(at, this.checks.int(value));
  }

  protected putNull(at: number): number {
    return this.set(at, 0);
  }

  /** Writes the two halves, little-endian: no BigInt is made for it. */
  protected set(at: number, value: number): number {
    if (at >= this.values.length) this.#grow();
    this.#halves[at * 2] = value | 0;
    this.#halves[at * 2 + 1] = Math.floor(value / 4294967296) | 0;
    return 8;
  }

  #grow(): void {
    this.#halves = grown(this.#halves, this.#halves.length * 2);
    this.values = new BigInt64Array(this.#halves.buffer);
  }
}

/** Times, as 64-bit microseconds since 1970 UTC. Null cells hold 0, since readers convert them, too. */
export class TimestampColumn extends IntColumn {
  protected override put(value: unknown, at: number): number {
    const micros = microsOf(this.checks.millis(value));
    if (typeof micros === 'number') return this.set(at, micros);
    this.set(at, 0);
    this.values[at] = micros;
    return 8;
  }
}

export class FloatColumn extends ColumnBuffer {
  values = new Float64Array(FIRST_ROWS);

  protected put(value: unknown, at: number): number {
    const float = this.checks.float(value);
    if (at >= this.values.length) this.values = grown(this.values, this.values.length * 2);
    this.values[at] = float;
    return 8;
  }

  protected putNull(at: number): number {
    return this.put(0, at);
  }
}

/** Booleans, one bit each. */
export class BoolColumn extends ColumnBuffer {
  values = new Uint8Array(FIRST_ROWS / 8);

  protected put(value: unknown, at: number): number {
    const bool = this.checks.bool(value);
    if (at >> 3 >= this.values.length) this.values = grown(this.values, this.values.length * 2);
    if (bool) this.values[at >> 3]! |= 1 << (at & 7);
    return 1;
  }

  protected putNull(at: number): number {
    return this.put(false, at);
  }

  get(at: number): boolean {
    return (this.values[at >> 3]! & (1 << (at & 7))) !== 0;
  }

  override pop(): void {
    super.pop();
    this.values[this.length >> 3]! &= ~(1 << (this.length & 7));
  }

  override reset(): void {
    super.reset();
    this.values.fill(0);
  }
}

/** Text or bytes, end to end in one buffer; cell i is `bytes[offsets[i], offsets[i + 1])`. */
export class TextColumn extends ColumnBuffer {
  offsets = new Int32Array(FIRST_ROWS + 1);
  readonly data = new ByteBuffer(FIRST_BYTES);
  #isBytes = this.column.type === 'bytes';

  protected put(value: unknown, at: number): number {
    const before = this.data.length;
    if (this.#isBytes) this.data.appendBytes(this.checks.bytes(value));
    else if (typeof value === 'string') this.data.appendText(value);
    else this.data.appendBytes(validUtf8(this.checks.text(value) as Uint8Array));
    if (this.data.length > MAX_BYTES) {
      this.data.length = before;
      throw new CellError(this.checks.table, this.column.name, 'more than 2 GiB of text in one row group');
    }
    return this.data.length - before + this.putNull(at);
  }

  protected putNull(at: number): number {
    if (at + 2 > this.offsets.length) this.offsets = grown(this.offsets, this.offsets.length * 2);
    this.offsets[at + 1] = this.data.length;
    return 4;
  }

  /** A view, valid until the next `append` or `reset`. */
  get(at: number): Uint8Array {
    return this.data.bytes.subarray(this.offsets[at]!, this.offsets[at + 1]!);
  }

  override pop(): void {
    super.pop();
    this.data.length = this.offsets[this.length]!;
  }

  override reset(): void {
    super.reset();
    this.data.reset(KEPT_BYTES);
  }
}

/** V8 hashes strings beyond some 16,000 units by their length alone: long ones must not become Map keys. */
const LONGEST_KEY = 1000;
/** More distinct values than this are no keys; interning stops. */
const MOST_KEYS = 4096;

/** Text of few distinct values, as strings, each distinct one held once. */
export class KeyColumn extends ColumnBuffer {
  readonly values: (string | null)[] = [];
  #interned = new Map<string, string>();
  #last = '';

  /** Whether a value is too long to be a dictionary key. */
  get hasLong(): boolean {
    return this.values.some((value) => value !== null && value.length > LONGEST_KEY);
  }

  protected put(value: unknown): number {
    if (value !== this.#last) this.#last = this.#intern(this.checks.text(value));
    this.values.push(this.#last);
    // What a long one takes; the others are held once
    return this.#last.length > LONGEST_KEY ? this.#last.length : 8;
  }

  protected putNull(): number {
    this.values.push(null);
    return 8;
  }

  #intern(value: string | Uint8Array): string {
    if (typeof value === 'string' && value.length <= LONGEST_KEY) {
      const known = this.#interned.get(value);
      if (known !== undefined) return known;
    }
    const text = wellFormed(value);
    if (text.length > LONGEST_KEY) return text;
    const known = this.#interned.get(text);
    if (known !== undefined) return known;
    // A copy, because a part of a longer string keeps all of that alive
    const copy = Buffer.from(text, 'utf8').toString('utf8');
    if (this.#interned.size < MOST_KEYS) this.#interned.set(copy, copy);
    return copy;
  }

  override pop(): void {
    super.pop();
    this.values.pop();
  }

  override reset(): void {
    super.reset();
    this.values.length = 0;
    // Buffers outlive their file: the next one may have other keys.
    if (this.#interned.size === MOST_KEYS) this.#interned.clear();
  }
}

/** Lists of strings; list i is the items `[offsets[i], offsets[i + 1])`. */
export class ListColumn<Items extends TextColumn | KeyColumn> extends ColumnBuffer {
  offsets = new Int32Array(FIRST_ROWS + 1);
  readonly items: Items;

  constructor(table: TableName, column: Column, items: Items) {
    super(table, column);
    this.items = items;
  }

  protected put(value: unknown, at: number): number {
    let bytes = 0;
    for (const item of this.checks.list(value)) bytes += this.items.append(item);
    return bytes + this.putNull(at);
  }

  protected putNull(at: number): number {
    if (at + 2 > this.offsets.length) this.offsets = grown(this.offsets, this.offsets.length * 2);
    this.offsets[at + 1] = this.items.length;
    return 4;
  }

  override pop(): void {
    super.pop();
    while (this.items.length > this.offsets[this.length]!) this.items.pop();
  }

  override reset(): void {
    super.reset();
    this.items.reset();
  }
}

/** Adds a row to all columns and gives the bytes it takes; when a cell is refused, it is added to none. */
export function appendRow(
  columns: readonly ColumnBuffer[],
  names: readonly string[],
  row: Readonly<Record<string, unknown>>,
): number {
  let done = 0;
  let bytes = 0;
  try {
    for (; done < columns.length; done++) bytes += columns[done]!.append(row[names[done]!]);
  } catch (error) {
    while (done > 0) columns[--done]!.pop();
    throw error;
  }
  return bytes;
}

/** Sets of record ids as `hash53` values in typed arrays: a session file of 10 GB holds millions of them. */

/** A copy of `array` with room for at least twice as many elements. */
export function grown<T extends Float64Array | Int32Array | Uint8Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(Math.max(64, array.length * 2));
  larger.set(array as never);
  return larger;
}

/** Numbers the ids in the order in which they are added. */
export class IdTable {
  size = 0;
  /** By number. */
  keys = new Float64Array(64);
  /** Open addressing; number + 1, 0 = free. At most half of them are taken. */
  private slots = new Int32Array(256);

  /** Number of a key; -1 where it was never added. */
  find(key: number): number {
    return this.slots[this.slotOf(key)]! - 1;
  }

  /** Number of a key, which is added where it is new: then the number is the former `size`. */
  add(key: number): number {
    let slot = this.slotOf(key);
    const known = this.slots[slot]! - 1;
    if (known !== -1) return known;
    if (this.size * 2 >= this.slots.length) {
      this.rehash();
      slot = this.slotOf(key);
    }
    if (this.size === this.keys.length) this.keys = grown(this.keys);
    this.keys[this.size] = key;
    this.slots[slot] = ++this.size;
    return this.size - 1;
  }

  private slotOf(key: number): number {
    const mask = this.slots.length - 1;
    // `hash53` mixes all its bits: the low 32 spread well enough.
    let slot = (key | 0) & mask;
    for (;;) {
      const number = this.slots[slot]! - 1;
      if (number === -1 || this.keys[number] === key) return slot;
      slot = (slot + 1) & mask;
    }
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    for (let number = 0; number < this.size; number++) this.slots[this.slotOf(this.keys[number]!)] = number + 1;
  }
}

/** Ascending ordinals, asked for in ascending order. */
export class OrdinalCursor {
  private readonly ordinals: Int32Array;
  private at = 0;

  /** Index of the ordinal that was found last. */
  get index(): number {
    return this.at;
  }

  constructor(ordinals: Int32Array) {
    this.ordinals = ordinals;
  }

  has(ordinal: number): boolean {
    while (this.at < this.ordinals.length && this.ordinals[this.at]! < ordinal) this.at++;
    return this.ordinals[this.at] === ordinal;
  }
}

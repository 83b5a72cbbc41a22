/**
 * Seeded random numbers (sfc32). The same seed gives the same store, byte for byte, on any machine:
 * nothing here reads the clock or Math.random.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, stream = 0) {
    this.#a = seed >>> 0;
    this.#b = stream >>> 0;
    this.#c = 0x9e3779b9;
    for (let i = 0; i < 12; i++) this.bits();
  }

  /** 32 random bits, unsigned. */
  bits(): number {
    const t = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t;
    return t >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    return this.bits() / 4294967296;
  }

  /** A whole number in [min, max], both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** Sizes of things people write have a heavy tail: log-normal, cut to [min, max]. */
  size(median: number, sigma: number, min: number, max: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return Math.round(Math.min(max, Math.max(min, median * Math.exp(sigma * normal))));
  }

  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += hex32(this.bits());
    return text.slice(0, digits);
  }

  uuid(): string {
    const b = hex32(this.bits());
    const c = hex32(this.bits());
    return `${hex32(this.bits())}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${hex32(this.bits())}`;
  }

  /** A version 7 uuid: time in front, as Codex names its threads. */
  uuidAt(ms: number): string {
    const time = ms.toString(16).padStart(12, '0');
    const b = hex32(this.bits());
    const c = hex32(this.bits());
    return `${time.slice(0, 8)}-${time.slice(8)}-7${b.slice(0, 3)}-b${b.slice(3, 6)}-${c}${hex32(this.bits()).slice(4)}`;
  }

  /** Letters and digits, as in the vendors' opaque ids. */
  id(length: number): string {
    let text = '';
    while (text.length < length) {
      let bits = this.bits();
      for (let i = 0; i < 5 && text.length < length; i++) {
        text += BASE62[bits % 62];
        bits = Math.floor(bits / 62);
      }
    }
    return text;
  }
}

const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HEX_PAIRS: readonly string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));

function hex32(bits: number): string {
  return `${HEX_PAIRS[bits >>> 24]}${HEX_PAIRS[(bits >>> 16) & 255]}${HEX_PAIRS[(bits >>> 8) & 255]}${HEX_PAIRS[bits & 255]}`;
}

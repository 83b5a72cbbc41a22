/** The ledger of one whole read: every observation is seen once, and the counted ones are known at the end. */
import { type Claim, countedOwners } from './owners.ts';

/** Bytes of a `usage_key` digest. */
export const DIGEST_BYTES = 16;

/** Observations of one shard, packed: parallel arrays in order of source and position. */
export interface PackedClaims {
  /** `DIGEST_BYTES` a row. */
  readonly digests: Uint8Array;
  /** Hash of the variant; 0 = null. */
  readonly variants: Uint32Array;
  readonly native: Uint8Array;
  /** Output counter; -1 where absent. */
  readonly output: Float64Array;
}

/** Gathers observations of one shard. */
export class ClaimPacker {
  private digests = new Uint8Array(DIGEST_BYTES * 256);
  private variants = new Uint32Array(256);
  private native = new Uint8Array(256);
  private output = new Float64Array(256);
  length = 0;

  add(digest: Uint8Array, variant: number, native: boolean, output: number): void {
    if (this.length === this.native.length) this.grow();
    const at = this.length++;
    this.digests.set(digest, at * DIGEST_BYTES);
    this.variants[at] = variant;
    this.native[at] = native ? 1 : 0;
    this.output[at] = output;
  }

  /** Forgets all observations after the first `length`: those of a source that is held back. */
  truncate(length: number): void {
    this.length = length;
  }

  pack(): PackedClaims {
    return {
      digests: this.digests.slice(0, this.length * DIGEST_BYTES),
      variants: this.variants.slice(0, this.length),
      native: this.native.slice(0, this.length),
      output: this.output.slice(0, this.length),
    };
  }

  private grow(): void {
    const larger = <T extends Uint8Array | Uint32Array | Float64Array>(array: T, make: (n: number) => T): T => {
      const next = make(array.length * 2);
      next.set(array);
      return next;
    };
    this.digests = larger(this.digests, (n) => new Uint8Array(n));
    this.variants = larger(this.variants, (n) => new Uint32Array(n));
    this.native = larger(this.native, (n) => new Uint8Array(n));
    this.output = larger(this.output, (n) => new Float64Array(n));
  }
}

/**
 * For each shard (in order), one byte an observation: 1 = counted in full, 0 = counts zero. Memory is a few dozen bytes
 * an observation: a hash table of digests in typed arrays, no strings, no objects.
 */
export function settle(shards: readonly PackedClaims[]): Uint8Array[] {
  const starts: number[] = [];
  let total = 0;
  for (const shard of shards) {
    starts.push(total);
    total += shard.native.length;
  }
  const shardOf = new Uint32Array(total);
  shards.forEach((shard, s) => {
    shardOf.fill(s, starts[s]!, starts[s]! + shard.native.length);
  });
  const chains = chainByDigest(shards, starts, shardOf);
  const counted = shards.map((shard) => new Uint8Array(shard.native.length));
  const mark = (at: number): void => {
    const s = shardOf[at]!;
    counted[s]![at - starts[s]!] = 1;
  };
  const claimAt = (at: number): Claim => {
    const s = shardOf[at]!;
    const shard = shards[s]!;
    const i = at - starts[s]!;
    return { native: shard.native[i] === 1, variant: shard.variants[i] || null, output: shard.output[i]! };
  };
  for (let at = 0; at < total; at++) {
    if (chains.isHead[at] === 0) continue;
    if (chains.next[at] === -1) {
      mark(at);
      continue;
    }
    const members: number[] = [];
    for (let i = at; i !== -1; i = chains.next[i]!) members.push(i);
    for (const owner of countedOwners(members.map(claimAt))) mark(members[owner]!);
  }
  return counted;
}

/** Spreads digests over the table, also those that are not hashes but numbers in a row. */
function mix(a: number, b: number): number {
  const h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77);
  return h ^ (h >>> 15);
}

/** Observations of one key as a linked list in order of place. */
function chainByDigest(
  shards: readonly PackedClaims[],
  starts: readonly number[],
  shardOf: Uint32Array,
): { isHead: Uint8Array; next: Int32Array } {
  const total = shardOf.length;
  const slots = 1 << Math.max(4, Math.ceil(Math.log2(total * 2 + 1)));
  const heads = new Int32Array(slots).fill(-1);
  const next = new Int32Array(total).fill(-1);
  const last = new Int32Array(total);
  const isHead = new Uint8Array(total);
  const words = shards.map(
    (shard) => new Uint32Array(shard.digests.buffer, shard.digests.byteOffset, shard.digests.length / 4),
  );
  const wordAt = (at: number, i: number): number => {
    const s = shardOf[at]!;
    return words[s]![(at - starts[s]!) * 4 + i]!;
  };
  const same = (a: number, b: number): boolean =>
    wordAt(a, 0) === wordAt(b, 0) &&
    wordAt(a, 1) === wordAt(b, 1) &&
    wordAt(a, 2) === wordAt(b, 2) &&
    wordAt(a, 3) === wordAt(b, 3);
  for (let at = 0; at < total; at++) {
    let slot = mix(wordAt(at, 0), wordAt(at, 1)) & (slots - 1);
    let head = heads[slot]!;
    while (head !== -1 && !same(head, at)) {
      slot = (slot + 1) & (slots - 1);
      head = heads[slot]!;
    }
    if (head === -1) {
      heads[slot] = at;
      isHead[at] = 1;
      last[at] = at;
    } else {
      next[last[head]!] = at;
      last[head] = at;
    }
  }
  return { isHead, next };
}

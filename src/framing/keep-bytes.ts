/** Copies of record bytes that outlive their record, laid end to end in slabs of one size. */

/**
 * One allocation a text would leave the process's memory in holes: over gigabytes of transcripts it grows by half, though
 * nothing more is in use.
 */
const SLAB = 1024 * 1024;
/** A copy this large has an allocation of its own. */
const LARGE = SLAB / 4;

let slab = Buffer.allocUnsafeSlow(SLAB);
let used = 0;

/** A copy of the bytes that may be kept. */
export function keepBytes(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  if (length >= LARGE) return Buffer.from(bytes);
  if (used + length > SLAB) {
    slab = Buffer.allocUnsafeSlow(SLAB);
    used = 0;
  }
  slab.set(bytes, used);
  used += length;
  return slab.subarray(used - length, used);
}

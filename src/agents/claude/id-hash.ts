/** `hash53` without the string: a file's ids are hashed by the million, and most are looked at only as hashes. */

/**
 * `hash53` of the text in these bytes; -1 where they are no plain ASCII text without escapes that begins with more than
 * white space (decode them then). Follows `hash53` step by step; a test holds the two together.
 */
export function hashAscii(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end || bytes[start]! <= 0x20) return -1;
  let low = 0x9e3779b9 | 0;
  let high = 0x85ebca6b | 0;
  for (let i = start; i < end; i++) {
    const code = bytes[i]!;
    if (code >= 0x80 || code === 0x5c) return -1;
    low = Math.imul(low ^ code, 0x85ebca77);
    high = Math.imul(high ^ code, 0xc2b2ae3d);
  }
  low = Math.imul(low ^ (low >>> 16), 0x7feb352d) ^ Math.imul(high ^ (high >>> 13), 0x846ca68b);
  high = Math.imul(high ^ (high >>> 16), 0x7feb352d) ^ Math.imul(low ^ (low >>> 13), 0x846ca68b);
  return (high >>> 11) * 4294967296 + (low >>> 0);
}

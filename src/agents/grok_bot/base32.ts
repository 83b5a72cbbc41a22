/** Base32 (RFC 4648) in lower case and without padding. */

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** The text behind a name; null where the name is not just as it would be written. */
export function decodeBase32(name: string): string | null {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const letter of name) {
    const value = ALPHABET.indexOf(letter);
    if (value === -1) return null;
    held = (held << 5) | value;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >> bits);
    held &= (1 << bits) - 1;
  }
  // A whole letter is left over, or bits that no writer sets.
  if (bits >= 5 || held !== 0) return null;
  const text = Buffer.from(bytes).toString('utf8');
  return text.includes('\ufffd') ? null : text;
}

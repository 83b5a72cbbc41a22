/**
 * Text hygiene: what leaves a sink is valid UTF-8. Lone surrogates and broken UTF-8 become U+FFFD; NUL stays U+0000.
 */
import { isUtf8 } from 'node:buffer';

/** The bytes themselves where they are valid UTF-8; else a repaired copy. */
export function validUtf8(bytes: Uint8Array): Uint8Array {
  if (isUtf8(bytes)) return bytes;
  // Buffer's decoder keeps a byte order mark, TextDecoder would drop it
  return Buffer.from(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
}

/** Text as a well-formed string. */
export const wellFormed = (value: string | Uint8Array): string =>
  typeof value === 'string'
    ? value.toWellFormed()
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');

/** Up to here a loop is faster than the call into the runtime. */
const SHORT = 48;

/** Bytes that grow by doubling and are kept for reuse; `length` of them are in use. */
export class ByteBuffer {
  bytes: Buffer;
  length = 0;

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  appendBytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Appends text as valid UTF-8. */
  appendText(value: string | Uint8Array): void {
    if (typeof value !== 'string') {
      this.appendBytes(validUtf8(value));
      return;
    }
    const { length } = value;
    // A UTF-16 unit takes at most 3 bytes; for long text the exact size is worth a look.
    this.reserve(length < 4096 ? length * 3 : Buffer.byteLength(value));
    if (length <= SHORT && this.#appendAscii(value)) return;
    // Buffer.write puts U+FFFD for a lone surrogate
    this.length += this.bytes.write(value, this.length, 'utf8');
  }

  /** Room has been reserved. False, and nothing appended, where the text is not ASCII. */
  #appendAscii(value: string): boolean {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[at++] = unit;
    }
    this.length = at;
    return true;
  }

  /** Empties the buffer; memory beyond `keep` is given back. */
  reset(keep: number): void {
    this.length = 0;
    if (this.bytes.length > keep) this.bytes = Buffer.allocUnsafeSlow(keep);
  }
}

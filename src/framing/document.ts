/** A file that is one JSON value: one frame. */
import { isUtf8 } from 'node:buffer';
import { withoutMark } from './byte-order-mark.ts';
import type { ByteSource } from './byte-source.ts';
import { sourceError } from './errors.ts';
import type { Frame } from './frame.ts';
import type { ReadLimits } from './limits.ts';

/**
 * Reads the whole document. Throws a source-scoped error where it does not parse (there is nothing else to read in it)
 * or is larger than `limits.maxLine`, the limit of one record.
 */
export function readDocument(source: ByteSource, limits: ReadLimits): Frame {
  if (source.size > limits.maxLine) {
    throw sourceError(
      'document_too_large',
      `has ${source.size} bytes, over --max-line ${limits.maxLine}; raise it to read the document`,
    );
  }
  const bytes = Buffer.allocUnsafe(source.size);
  const read = source.read(bytes, 0, source.size, 0);
  const content = withoutMark(bytes.subarray(0, read));
  const position = { ordinal: 0, byteStart: null, byteEnd: null, locator: '' };
  return {
    ...position,
    json() {
      if (!isUtf8(content)) throw sourceError('invalid_utf8', 'is not valid UTF-8');
      try {
        return JSON.parse(content.toString('utf8'));
      } catch (error) {
        throw sourceError('malformed_json', 'does not parse as JSON', error);
      }
    },
    bytes: () => content,
    includes: (needle) => content.includes(needle),
    position: () => position,
  };
}

/** Small files beside the sources: settings, indexes, sidecars. Read whole, and never waited for. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { withoutMark } from './byte-order-mark.ts';

/** What was read, without a byte order mark; or why it was not. */
export type SmallFile =
  | { readonly bytes: Buffer; readonly size: number }
  | { readonly fault: 'absent' | 'not_a_file' | 'too_large' | 'unreadable'; readonly detail: string };

function readUpTo(descriptor: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const read = readSync(descriptor, bytes, done, length - done, done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

/**
 * Reads a file of at most `maxBytes`; with `part: 'head'` the first `maxBytes` of one of any size. Never throws for
 * what the file system holds: a FIFO in a file's place would block for ever, a folder cannot be read.
 */
export function readSmallFile(path: string, maxBytes: number, part: 'all' | 'head' = 'all'): SmallFile {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { fault: 'not_a_file', detail: 'is not a regular file' };
    if (part === 'all' && stat.size > maxBytes) {
      return { fault: 'too_large', detail: `has ${stat.size} bytes, more than such a file should (${maxBytes})` };
    }
    return { bytes: withoutMark(readUpTo(descriptor, Math.min(stat.size, maxBytes))), size: stat.size };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { fault: 'absent', detail: 'is absent' };
    if (code === 'ENXIO') return { fault: 'not_a_file', detail: 'is not a regular file' };
    return { fault: 'unreadable', detail: `cannot be read (${code})` };
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

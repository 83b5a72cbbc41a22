/** Bytes of a source at positions: a file that is open, or a decompressed one. */

import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { sourceError } from './errors.ts';
import type { ReadLimits } from './limits.ts';
import { zstdFrames } from './zstd-frames.ts';

/** What tells whether a file is still the one that was read. */
export interface FileStat {
  readonly size: number;
  /** Milliseconds since 1970, fractions kept. */
  readonly mtimeMs: number;
  /** Milliseconds since 1970: changes with every write, even where somebody sets mtime back. */
  readonly ctimeMs: number;
  readonly inode: number;
}

export interface ByteSource {
  /** Bytes that are read: the length at the time of opening. */
  readonly size: number;
  /** Of the file itself, as it was opened. */
  readonly stat: FileStat;
  /** Whether the end of a compressed stream is missing: what came before it is whole. */
  readonly truncated: boolean;
  /** Why a compressed stream cannot be read on behind `size`; null where it is whole, or only its end is missing. */
  readonly damage: string | null;
  /** All of it, where it is small: valid until the next source is opened in this thread. null: read by position. */
  readonly whole: Buffer | null;
  /** Reads up to `length` bytes at `position`; fewer only at the end. Throws a source-scoped error. */
  read(into: Buffer, offset: number, length: number, position: number): number;
  /** Throws a source-scoped error where the file was rewritten or cut while it was read. Growth is no change. */
  checkUnchanged(): void;
  /** Hashes of the head window and of the window that ends at byte `end`; null where the source cannot be resumed. */
  windows(end: number): { head: string; tail: string } | null;
  close(): void;
}

/** Bytes at either end of a file that are hashed to notice a rewrite that size and time do not show. */
const WINDOW = 4096;
/** Decompressed sources up to this size stay in memory; larger ones go to an unlinked temporary file. */
const SPOOL_FROM = 8 * 1024 * 1024;

const reason = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOENT') return 'it vanished';
  if (code === 'EACCES' || code === 'EPERM') return 'no permission to read it; check its mode and owner';
  if (code === 'ELOOP') return 'it is a link; links are not followed';
  return code ?? (error instanceof Error ? error.message : String(error));
};

const statOf = (fd: number): FileStat => {
  const stat = fstatSync(fd);
  return { size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, inode: stat.ino };
};

/** Hashes of the first and the last window of the first `end` bytes. */
export function windowHashes(fd: number, end: number): { head: string; tail: string } {
  const buffer = Buffer.allocUnsafe(WINDOW);
  const at = (position: number, length: number): string => {
    const read = readSync(fd, buffer, 0, length, position);
    return hash('sha1', buffer.subarray(0, read), 'hex');
  };
  const length = Math.min(WINDOW, end);
  return { head: at(0, length), tail: at(end - length, length) };
}

function openFile(path: string): { fd: number; stat: FileStat } {
  let fd: number;
  try {
    // O_NONBLOCK: opening a FIFO that somebody put there must not hang. O_NOFOLLOW: links are not followed.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    throw sourceError('unreadable', `cannot be opened: ${reason(error)}`, error);
  }
  if (!fstatSync(fd).isFile()) {
    closeSync(fd);
    throw sourceError('not_a_file', 'is not a regular file');
  }
  return { fd, stat: statOf(fd) };
}

function checkSize(size: number, limits: ReadLimits): void {
  if (limits.maxFile !== null && size > limits.maxFile) {
    throw sourceError(
      'file_too_large',
      `has ${size} bytes, over --max-file ${limits.maxFile}; raise it to read this source`,
    );
  }
  if (limits.stopAtByte !== null && size < limits.stopAtByte) {
    throw sourceError('shorter_than_stop', `has ${size} bytes, fewer than --stop-at-byte ${limits.stopAtByte}`);
  }
}

const readAt = (fd: number, into: Buffer, offset: number, length: number, position: number): number => {
  let done = 0;
  try {
    while (done < length) {
      const read = readSync(fd, into, offset + done, length - done, position + done);
      if (read === 0) break;
      done += read;
    }
  } catch (error) {
    throw sourceError('read_failed', `cannot be read at byte ${position + done}: ${reason(error)}`, error);
  }
  return done;
};

/** Sources up to this size are read in one go, with one buffer that serves them all, one after the other. */
const WHOLE_BYTES = 4 * 1024 * 1024;
let wholeBuffer: Buffer | null = null;

const windowsOf = (bytes: Buffer, end: number): { head: string; tail: string } => {
  const length = Math.min(WINDOW, end);
  return {
    head: hash('sha1', bytes.subarray(0, length), 'hex'),
    tail: hash('sha1', bytes.subarray(end - length, end), 'hex'),
  };
};

const isSameStat = (a: FileStat, b: FileStat): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;

function plainSource(path: string, limits: ReadLimits, part: 'all' | 'head'): ByteSource {
  const { fd, stat } = openFile(path);
  try {
    checkSize(stat.size, limits);
    const size = limits.stopAtByte ?? stat.size;
    const whole = size <= WHOLE_BYTES && part === 'all' ? readWhole(fd, size) : null;
    // Of a source that is held whole, what is in memory is compared; of others, what the ends were at the beginning.
    const windows = whole === null && part === 'all' ? windowHashes(fd, size) : null;
    return {
      size,
      stat,
      truncated: false,
      damage: null,
      whole,
      read(into, offset, length, position) {
        const want = Math.min(length, size - position);
        const read = readAt(fd, into, offset, want, position);
        if (read < want)
          throw sourceError('changed_while_read', `was cut to ${statOf(fd).size} bytes while it was read`);
        return read;
      },
      checkUnchanged() {
        const now = statOf(fd);
        if (isSameStat(now, stat)) return;
        const before = windows ?? windowsOf(whole!, size);
        const after = now.size >= size ? windowHashes(fd, size) : null;
        if (after === null || after.head !== before.head || after.tail !== before.tail) {
          throw sourceError('changed_while_read', 'was rewritten while it was read; the next run reads it again');
        }
      },
      windows: (end) => (whole === null ? windowHashes(fd, end) : windowsOf(whole, end)),
      close: () => closeSync(fd),
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function readWhole(fd: number, size: number): Buffer {
  wholeBuffer ??= Buffer.allocUnsafeSlow(WHOLE_BYTES);
  const read = readAt(fd, wholeBuffer, 0, size, 0);
  if (read < size) throw sourceError('changed_while_read', `was cut to ${statOf(fd).size} bytes while it was read`);
  return wholeBuffer.subarray(0, size);
}

/** A temporary file that has no name any more: nothing is left behind, however the process ends. */
function unlinkedTemporary(): number {
  const folder = mkdtempSync(join(tmpdir(), 'sessionlake-'));
  const path = join(folder, 'spool');
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  rmdirSync(folder);
  return fd;
}

/** Decompresses in a stream; small results stay in memory, larger ones go to an unlinked temporary file. */
class Spool {
  private chunks: Buffer[] = [];
  private fd: number | null = null;
  size = 0;

  add(chunk: Buffer): void {
    if (this.fd === null) {
      this.chunks.push(chunk);
      this.size += chunk.length;
      if (this.size <= SPOOL_FROM) return;
      this.fd = unlinkedTemporary();
      for (const held of this.chunks) writeSync(this.fd, held);
      this.chunks = [];
      return;
    }
    writeSync(this.fd, chunk);
    this.size += chunk.length;
  }

  reader(): Pick<ByteSource, 'read' | 'close'> {
    const fd = this.fd;
    if (fd !== null) {
      return {
        read: (into, offset, length, position) =>
          readAt(fd, into, offset, Math.min(length, this.size - position), position),
        close: () => closeSync(fd),
      };
    }
    const whole = Buffer.concat(this.chunks);
    this.chunks = [];
    return {
      read: (into, offset, length, position) =>
        whole.copy(into, offset, position, Math.min(position + length, whole.length)),
      close: () => undefined,
    };
  }

  discard(): void {
    if (this.fd !== null) closeSync(this.fd);
  }
}

/** The bytes of a range of a file, without a stream that would close it. */
function* chunksOf(fd: number, start: number, end: number): Generator<Buffer> {
  for (let position = start; position < end; ) {
    const chunk = Buffer.allocUnsafe(Math.min(256 * 1024, end - position));
    const read = readAt(fd, chunk, 0, chunk.length, position);
    if (read === 0) return;
    position += read;
    yield chunk.subarray(0, read);
  }
}

/** What ends the content of a compressed file before its own end. */
interface Broken {
  readonly truncated: boolean;
  readonly damage: string | null;
}

/** Decompresses all frames of a file. Throws a source-scoped error where nothing of it can be read. */
async function decompress(fd: number, size: number, spool: Spool, limits: ReadLimits): Promise<Broken> {
  const { frames, garbageAt } = zstdFrames(size, (position, length) => {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readAt(fd, bytes, 0, length, position));
  });
  for (const { start, end } of frames) {
    try {
      await pipeline(chunksOf(fd, start, end), createZstdDecompress(), async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) {
          spool.add(chunk);
          if (limits.maxFile !== null && spool.size > limits.maxFile) {
            throw sourceError('file_too_large', `decompresses to over --max-file ${limits.maxFile} bytes`);
          }
        }
      });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // A stream that just stops (writer killed, file still being written): the lines before the cut are whole.
      if (code === 'Z_BUF_ERROR' && spool.size > 0) return { truncated: true, damage: null };
      if (code === undefined || !/^Z(STD)?_/.test(code)) throw error;
      const damage = `the zstd frame at byte ${start} cannot be decompressed (${code})`;
      if (spool.size === 0) throw sourceError('bad_zstd', `is no whole zstd stream: ${damage}`, error);
      return { truncated: false, damage };
    }
  }
  if (garbageAt === null) return { truncated: false, damage: null };
  if (frames.length === 0) throw sourceError('bad_zstd', 'is no zstd stream');
  // Fewer bytes than a magic number has may be the beginning of a further frame.
  if (size - garbageAt < 4) return { truncated: true, damage: null };
  return { truncated: false, damage: `what stands from byte ${garbageAt} on is no zstd frame` };
}

async function zstdSource(path: string, limits: ReadLimits): Promise<ByteSource> {
  const { fd, stat } = openFile(path);
  const spool = new Spool();
  let broken: Broken;
  try {
    broken = await decompress(fd, stat.size, spool, limits);
  } catch (error) {
    spool.discard();
    closeSync(fd);
    throw error;
  }
  try {
    checkSize(spool.size, limits);
  } catch (error) {
    spool.discard();
    closeSync(fd);
    throw error;
  }
  const reader = spool.reader();
  return {
    size: limits.stopAtByte ?? spool.size,
    stat,
    ...broken,
    whole: null,
    read: reader.read,
    checkUnchanged() {
      const now = statOf(fd);
      if (now.size !== stat.size || now.mtimeMs !== stat.mtimeMs) {
        throw sourceError('changed_while_read', 'was rewritten while it was read; the next run reads it again');
      }
    },
    windows: () => null,
    close() {
      reader.close();
      closeSync(fd);
    },
  };
}

/**
 * Opens a file for reading by position; `.zst` is decompressed. Throws a source-scoped `ScopedError` where it is
 * absent, unreadable, no regular file, a link, too large, or (with `stopAtByte`) too short. `head`: only its first
 * records are wanted, so that nothing is read ahead and `checkUnchanged` may not be asked.
 */
export async function openByteSource(
  path: string,
  limits: ReadLimits,
  part: 'all' | 'head' = 'all',
): Promise<ByteSource> {
  return path.endsWith('.zst') ? zstdSource(path, limits) : plainSource(path, limits, part);
}

/** A folder of small JSON files that are one session together: a file is a record. */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { withoutMark } from './byte-order-mark.ts';
import { recordError } from './errors.ts';
import type { Frame, Position } from './frame.ts';
import type { ReadLimits } from './limits.ts';

/** A file of a folder source. */
export interface FolderFile {
  /** Absolute path. */
  readonly path: string;
  /** Path inside the source, as in the column `locator`. */
  readonly locator: string;
}

const failure = (code: string | undefined): string =>
  code === 'ENOENT' ? 'vanished' : code === 'ELOOP' ? 'is a link; links are not followed' : `cannot be read (${code})`;

/** Reads a file whole. Throws a record-scoped error: the other files of the folder still count. */
function readFile({ path, locator }: FolderFile, limits: ReadLimits): Buffer {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    throw recordError('unreadable', `${locator} ${failure((error as NodeJS.ErrnoException).code)}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw recordError('not_a_file', `${locator} is not a regular file`);
    if (stat.size > limits.maxLine) {
      throw recordError(
        'record_too_long',
        `${locator} has ${stat.size} bytes, over --max-line ${limits.maxLine}; raise it to read the file`,
      );
    }
    const bytes = Buffer.allocUnsafe(stat.size);
    let done = 0;
    while (done < bytes.length) {
      const read = readSync(fd, bytes, done, bytes.length - done, done);
      if (read === 0) break;
      done += read;
    }
    return bytes.subarray(0, done);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EIO' || code === 'EISDIR') throw recordError('unreadable', `${locator} ${failure(code)}`);
    throw error;
  } finally {
    closeSync(fd);
  }
}

class FileFrame implements Frame {
  readonly ordinal: number;
  readonly byteStart = null;
  readonly byteEnd = null;
  readonly locator: string;
  private readonly file: FolderFile;
  private readonly limits: ReadLimits;
  private content: Buffer | null = null;

  constructor(ordinal: number, file: FolderFile, limits: ReadLimits) {
    this.ordinal = ordinal;
    this.file = file;
    this.locator = file.locator;
    this.limits = limits;
  }

  json(): unknown {
    const bytes = withoutMark(this.bytes());
    if (!isUtf8(bytes)) throw recordError('invalid_utf8', `${this.locator} is not valid UTF-8`);
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      if (error instanceof SyntaxError) throw recordError('malformed_json', `${this.locator} is not one JSON value`);
      throw error;
    }
  }

  bytes(): Buffer {
    this.content ??= readFile(this.file, this.limits);
    return this.content;
  }

  includes(needle: Buffer): boolean {
    return this.bytes().includes(needle);
  }

  position(): Position {
    return { ordinal: this.ordinal, byteStart: null, byteEnd: null, locator: this.locator };
  }
}

/** The files as frames, in the order given; a file is opened when its frame is asked for its content. */
export function* folderFrames(files: Iterable<FolderFile>, limits: ReadLimits): Generator<Frame, void, undefined> {
  let ordinal = 0;
  for (const file of files) yield new FileFrame(ordinal++, file, limits);
}

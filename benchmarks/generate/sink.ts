import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Span } from './text.ts';

const BUFFER_BYTES = 1 << 20;

/** Buffers are handed on from file to file, so that thousands of small files do not allocate thousands of megabytes. */
const spareBuffers: Buffer[] = [];

/** What the whole run wrote; the store's manifest is made of it. */
export interface Written {
  files: number;
  lines: number;
  bytes: number;
  largestFile: number;
  largestLine: number;
}

export function nothingWritten(): Written {
  return { files: 0, lines: 0, bytes: 0, largestFile: 0, largestLine: 0 };
}

/** One file being written, front to back, from short strings and from byte ranges of ready-made text. */
export class FileSink {
  readonly #fd: number;
  readonly #buffer: Buffer;
  readonly #written: Written;
  #at = 0;
  #flushed = 0;
  #lineStart = 0;

  constructor(path: string, written: Written) {
    mkdirSync(dirname(path), { recursive: true });
    this.#fd = openSync(path, 'wx');
    this.#buffer = spareBuffers.pop() ?? Buffer.allocUnsafe(BUFFER_BYTES);
    this.#written = written;
  }

  /** Bytes of the file so far. */
  get bytes(): number {
    return this.#flushed + this.#at;
  }

  /** Writes text as it is: the caller has escaped what needs escaping. */
  text(text: string): void {
    const most = text.length * 3;
    if (most > BUFFER_BYTES - this.#at) {
      this.#flush();
      if (most > BUFFER_BYTES) {
        this.raw(Buffer.from(text), 0, Buffer.byteLength(text));
        return;
      }
    }
    this.#at += this.#buffer.write(text, this.#at, 'utf8');
  }

  /** The span's text inside a JSON string (without the quotes). */
  span(span: Span): void {
    this.raw(span.pool.escaped, span.from, span.to);
  }

  /** Bytes of a buffer, copied as they are. */
  raw(bytes: Buffer, from: number, to: number): void {
    let at = from;
    while (at < to) {
      if (this.#at === BUFFER_BYTES) this.#flush();
      const count = Math.min(to - at, BUFFER_BYTES - this.#at);
      bytes.copy(this.#buffer, this.#at, at, at + count);
      this.#at += count;
      at += count;
    }
  }

  endLine(): void {
    this.text('\n');
    const line = this.bytes - this.#lineStart - 1;
    if (line > this.#written.largestLine) this.#written.largestLine = line;
    this.#lineStart = this.bytes;
    this.#written.lines++;
  }

  close(): void {
    this.#flush();
    closeSync(this.#fd);
    spareBuffers.push(this.#buffer);
    this.#written.files++;
    this.#written.bytes += this.#flushed;
    if (this.#flushed > this.#written.largestFile) this.#written.largestFile = this.#flushed;
  }

  #flush(): void {
    let done = 0;
    while (done < this.#at) done += writeSync(this.#fd, this.#buffer, done, this.#at - done);
    this.#flushed += this.#at;
    this.#at = 0;
  }
}

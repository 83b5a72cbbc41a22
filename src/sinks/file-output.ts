/** The file under a sink: made at the first write, hashed on the way, synced at the end. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';

export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of the file's bytes, in hex. */
  readonly sha256: string;
}

export class FileOutput {
  readonly path: string;
  /** Bytes written so far. */
  bytes = 0;
  #descriptor: number | null = null;
  #hash: Hash = createHash('sha256');
  #ended = false;

  /** Nothing is created yet. */
  constructor(path: string) {
    this.path = path;
  }

  /** Writes all bytes, or throws. The file is made readable by its owner alone; an existing one is an error. */
  write(chunk: Uint8Array): void {
    if (this.#ended) throw new Error(`${this.path}: write after close`);
    this.#descriptor ??= openSync(this.path, 'wx', 0o600);
    this.#hash.update(chunk);
    for (let done = 0; done < chunk.length; ) done += writeSync(this.#descriptor, chunk, done, chunk.length - done);
    this.bytes += chunk.length;
  }

  /** Brings the file to disk; null where nothing was written. */
  close(): WrittenFile | null {
    this.#ended = true;
    const descriptor = this.#descriptor;
    if (descriptor === null) return null;
    this.#descriptor = null;
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return { path: this.path, bytes: this.bytes, sha256: this.#hash.digest('hex') };
  }

  /** Closes and removes what was written. */
  abort(): void {
    this.#ended = true;
    if (this.#descriptor === null) return;
    closeSync(this.#descriptor);
    this.#descriptor = null;
    unlinkSync(this.path);
  }
}

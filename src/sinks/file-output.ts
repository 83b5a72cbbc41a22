/** The file under a sink: made at the first write to disk, hashed on the way, synced at the end. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';

/** Small writes are collected up to this size; larger ones go straight to the file. */
const PENDING_BYTES = 64 * 1024;

export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of the file's bytes, in hex. */
  readonly sha256: string;
}

export class FileOutput {
  readonly path: string;
  /** Whether `close` waits for the disk; else whoever needs the file to outlive a power cut syncs it later. */
  readonly #sync: boolean;
  /** Bytes taken so far. */
  bytes = 0;
  #descriptor: number | null = null;
  #pending: Buffer | null = null;
  #pendingLength = 0;
  #ended = false;
  readonly #hash: Hash = createHash('sha256');

  /** Nothing is created yet. */
  constructor(path: string, sync = true) {
    this.path = path;
    this.#sync = sync;
  }

  /** Takes all bytes; the caller may reuse their memory. The file must not exist and is readable by its owner alone. */
  write(chunk: Uint8Array): void {
    if (this.#ended) throw new Error(`${this.path}: write after close`);
    this.bytes += chunk.length;
    if (this.#pendingLength + chunk.length > PENDING_BYTES) this.#flush();
    if (chunk.length >= PENDING_BYTES) {
      this.#writeOut(chunk);
      return;
    }
    this.#pending ??= Buffer.allocUnsafeSlow(PENDING_BYTES);
    this.#pending.set(chunk, this.#pendingLength);
    this.#pendingLength += chunk.length;
  }

  /** Brings the file to disk; null where nothing was written, and then there is none. */
  close(): WrittenFile | null {
    this.#flush();
    this.#ended = true;
    const descriptor = this.#descriptor;
    if (descriptor === null) return null;
    this.#descriptor = null;
    try {
      if (this.#sync) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return { path: this.path, bytes: this.bytes, sha256: this.#hash.digest('hex') };
  }

  /** Closes and removes what was written. */
  abort(): void {
    this.#ended = true;
    this.#pendingLength = 0;
    if (this.#descriptor === null) return;
    closeSync(this.#descriptor);
    this.#descriptor = null;
    unlinkSync(this.path);
  }

  #flush(): void {
    if (this.#pending !== null && this.#pendingLength > 0)
      this.#writeOut(this.#pending.subarray(0, this.#pendingLength));
    this.#pendingLength = 0;
  }

  #writeOut(chunk: Uint8Array): void {
    this.#descriptor ??= openSync(this.path, 'wx', 0o600);
    this.#hash.update(chunk);
    for (let done = 0; done < chunk.length; ) done += writeSync(this.#descriptor, chunk, done, chunk.length - done);
  }
}

/** The file under a sink: made at the first write to disk, hashed on the way, synced at the end. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Small writes are collected up to this size; larger ones go straight to the file. */
const PENDING_BYTES = 64 * 1024;

/** Runs a system call on an open file: a failure tells the path, which calls on descriptors do not know. */
export function atPath<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && !error.message.includes(path)) error.message += ` '${path}'`;
    throw error;
  }
}

/** Writes all bytes at the end of an open file. */
const writeAll = (path: string, descriptor: number, bytes: Uint8Array): void =>
  atPath(path, () => {
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done);
  });

/** Makes a rename or a new file durable: its folder is synced. Not every platform can; there it is left to the system. */
export function syncFolder(path: string): void {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, 'r');
    const open = descriptor;
    atPath(path, () => fsyncSync(open));
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Writes a file as a whole: temporary name, sync, rename. */
export function writeWhole(path: string, content: string): void {
  const temporary = `${path}.new`;
  const descriptor = openSync(temporary, 'w', 0o600);
  try {
    writeAll(temporary, descriptor, Buffer.from(content, 'utf8'));
    atPath(temporary, () => fsyncSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

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

  /** Creates the file now, so that there is one even where nothing is written. */
  create(): void {
    this.#descriptor ??= openSync(this.path, 'wx', 0o600);
  }

  /** Brings the file to disk; null where nothing was written, and then there is none. */
  close(): WrittenFile | null {
    this.#flush();
    this.#ended = true;
    const descriptor = this.#descriptor;
    if (descriptor === null) return null;
    this.#descriptor = null;
    try {
      if (this.#sync) atPath(this.path, () => fsyncSync(descriptor));
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
    writeAll(this.path, this.#descriptor, chunk);
  }
}

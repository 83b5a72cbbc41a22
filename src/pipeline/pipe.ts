/** A pipe whose reader may be slow, or go away. */
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** The reader of the pipe went away (`| head`): no error, but nothing more is committed. */
export class ConsumerGone extends Error {}

/** Writes to a pipe, waiting where its reader is slow. */
export class Pipe {
  private readonly target: Writable;
  private gone = false;
  /** Why, where it is no reader that went away (a full disk behind the pipe). */
  private failure: Error | null = null;
  private wake: (() => void) | null = null;

  constructor(target: Writable) {
    this.target = target;
    target.on('error', this.onError);
    target.on('close', this.onGone);
  }

  private readonly onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') this.failure ??= error;
    this.onGone();
  };

  private get reason(): Error {
    return this.failure ?? new ConsumerGone();
  }

  private readonly onGone = (): void => {
    this.gone = true;
    this.wake?.();
  };

  async write(bytes: Uint8Array): Promise<void> {
    if (this.gone) throw this.reason;
    if (this.target.write(bytes)) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      this.target.once('drain', resolve);
    });
    this.wake = null;
    if (this.gone) throw this.reason;
  }

  /**
   * Resolves when all that was written has been taken over: by the reader, or by the buffer of the operating system between
   * it and us, which nobody can look into. Rejects where the reader is known to be gone.
   */
  async flush(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.wake = () => reject(this.reason);
      if (this.gone) reject(this.reason);
      else this.target.write('', (error) => (error ? reject(this.reason) : resolve()));
    });
    this.wake = null;
    // That the other end was closed may be told after the last write has succeeded.
    await setImmediate();
    if (this.gone) throw this.reason;
  }

  release(): void {
    this.target.off('close', this.onGone);
  }
}

/** Where an error stands: one record, the whole source, or the run. The wider the scope, the more stops. */
export type ErrorScope = 'record' | 'source' | 'run';

/** An error that says itself how far it reaches. `message` is for a person and never holds content of a store. */
export class ScopedError extends Error {
  readonly scope: ErrorScope;
  /** Stable name of the kind of error, as in `issues.code`. */
  readonly code: string;

  constructor(scope: ErrorScope, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.scope = scope;
    this.code = code;
  }
}

/** A record that cannot be read; the source goes on after it. */
export const recordError = (code: string, message: string): ScopedError => new ScopedError('record', code, message);

/** A source that cannot be read on; the other sources go through. */
export const sourceError = (code: string, message: string, cause?: unknown): ScopedError =>
  new ScopedError('source', code, message, { cause });

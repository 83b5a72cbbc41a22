/** What an error means for a person and for a script. */
import { UsageError } from '../usage-error.ts';

export interface Failure {
  readonly status: number;
  /** null: nothing is to be said. */
  readonly message: string | null;
  /** Lines for whoever looks for the fault in the program. */
  readonly detail?: readonly string[];
}

const named = (error: unknown): string => (error instanceof Error ? error.constructor.name : '');

const systemAdvice: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free space and run again: nothing was committed half',
  EDQUOT: 'the quota is used up; free space and run again: nothing was committed half',
  EFBIG: 'a file may not grow this large here; raise the limit (ulimit -f) or choose another place',
  EMFILE: 'too many open files; raise the limit (ulimit -n) or take fewer --threads',
  ENFILE: 'too many open files; raise the limit (ulimit -n) or take fewer --threads',
  EACCES: 'no permission; check owner and mode of the path and of its folder, or choose another place',
  EPERM: 'no permission; check owner and mode of the path and of its folder, or choose another place',
  EROFS: 'the file system is read-only; make it writable or choose another --out',
  EXDEV: 'the folder and its neighbour are on different file systems; choose another --out',
};

/** Exit statuses: 1 arguments, 3 nothing could be committed, 75 another run holds the cursor. */
export function explainError(error: unknown): Failure {
  // By name, so that printing a message loads neither SQLite nor the pipeline.
  switch (named(error)) {
    case 'ConsumerGone':
      return { status: 0, message: null };
    case 'CursorLockedError':
      return { status: 75, message: (error as Error).message };
    case 'CursorUnusableError':
    case 'RecoveryError':
      return { status: 3, message: (error as Error).message };
  }
  if (error instanceof UsageError) return { status: 1, message: error.message };
  const text = error instanceof Error ? error.message : String(error);
  // Errors lose their code on the way from a worker; the system's begin with it. What removes folders has none at all.
  const told = /too many open files/i.test(text) ? 'EMFILE' : /^([A-Z]+): /.exec(text)?.[1];
  const code = told ?? (error as NodeJS.ErrnoException | null)?.code;
  const advice = code === undefined ? undefined : systemAdvice[code];
  if (advice !== undefined) return { status: 3, message: `${text}: ${advice}` };
  if (process.env['SESSIONLAKE_DEBUG'] === undefined || !(error instanceof Error))
    return { status: 3, message: `${text} (SESSIONLAKE_DEBUG=1 shows where in the program)` };
  return { status: 3, message: text, detail: (error.stack ?? '').split('\n') };
}

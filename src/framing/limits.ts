/** Limits of reading; sizes in bytes. */
export interface ReadLimits {
  /** A longer line is drained, never buffered, and becomes an issue. */
  readonly maxLine: number;
  /** A larger source fails; of compressed sources the decompressed size counts. null = no limit. */
  readonly maxFile: number | null;
  /** What an unterminated last line of an append-only file is: `tolerant` = still being written, `strict` = damage. */
  readonly tail: 'tolerant' | 'strict';
  /** Read only this many bytes of the source, which must be at least as long; null = to the end. */
  readonly stopAtByte: number | null;
}

const MiB = 1024 * 1024;

export const defaultLimits: ReadLimits = { maxLine: 64 * MiB, maxFile: null, tail: 'tolerant', stopAtByte: null };

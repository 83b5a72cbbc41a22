/** Postings: what a usage row adds to what was counted before, so that plain sums stay right. */
import { type Counted, countedColumns } from './normalize.ts';

export const nothingCounted = (): Counted => ({
  counted_input_tokens: null,
  counted_output_tokens: null,
  counted_cache_read_tokens: null,
  counted_cache_write_tokens: null,
  counted_cache_write_1h_tokens: null,
  counted_reasoning_tokens: null,
});

/** What an observation that is not counted shows: 0 where it has a counter, null where it has none. */
export function zeroed(value: Counted): Counted {
  const zero = nothingCounted();
  for (const column of countedColumns) zero[column] = value[column] === null ? null : 0;
  return zero;
}

/** `target` minus `posted`. A column that neither has is null; one that lost its value is taken back. */
export function difference(target: Counted, posted: Counted): Counted {
  const result = nothingCounted();
  for (const column of countedColumns) {
    const now = target[column];
    const before = posted[column];
    if (now !== null || before !== null) result[column] = (now ?? 0) - (before ?? 0);
  }
  return result;
}

/** What stands posted after one more posting. */
export function sum(posted: Counted, posting: Counted): Counted {
  const result = nothingCounted();
  for (const column of countedColumns) {
    const a = posted[column];
    const b = posting[column];
    if (a !== null || b !== null) result[column] = (a ?? 0) + (b ?? 0);
  }
  return result;
}

/** Whether the posting changes no sum. */
export const changesNothing = (posting: Counted): boolean =>
  countedColumns.every((column) => (posting[column] ?? 0) === 0);

/** Whether the posting takes something back. */
export const takesBack = (posting: Counted): boolean => countedColumns.some((column) => (posting[column] ?? 0) < 0);

/** From native counters to disjoint, additive buckets. */
import type { UsageRow } from '../records/tables.ts';

/** What is done with counters that cannot be right: `strict` counts nothing from them, `statistics` mends them visibly. */
export const accountingPolicies = ['strict', 'statistics'] as const;
export type Accounting = (typeof accountingPolicies)[number];

/** The additive columns, in table order. */
export const countedColumns = [
  'counted_input_tokens',
  'counted_output_tokens',
  'counted_cache_read_tokens',
  'counted_cache_write_tokens',
  'counted_cache_write_1h_tokens',
  'counted_reasoning_tokens',
] as const;
export type Counted = { -readonly [K in (typeof countedColumns)[number]]: number | null };

const nativeColumns = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'reasoning_tokens',
  'total_tokens',
] as const;
type NativeColumn = (typeof nativeColumns)[number];
export type NativeCounters = Pick<
  UsageRow,
  NativeColumn | 'input_includes_cache_read' | 'input_includes_cache_write' | 'output_includes_reasoning'
>;

export interface Normalized {
  /** Native counters; one that is no count is null (strict) or mended (statistics). */
  readonly native: Record<NativeColumn, number | null>;
  readonly counted: Counted;
  /** Names of what was mended; empty under `strict`. */
  readonly adjustments: string[];
  /** Names of what was wrong and therefore not counted. */
  readonly problems: string[];
}

class Books {
  readonly adjustments: string[] = [];
  readonly problems: string[] = [];
  private readonly policy: Accounting;

  constructor(policy: Accounting) {
    this.policy = policy;
  }

  /** The mended value under `statistics`, null under `strict`; either way the fault is named. */
  fault(name: string, mended: number | null): number | null {
    if (this.policy === 'statistics' && mended !== null) {
      this.adjustments.push(name);
      return mended;
    }
    this.problems.push(name);
    return null;
  }

  count(column: NativeColumn, value: number | null): number | null {
    if (value === null || (Number.isSafeInteger(value) && value >= 0)) return value;
    if (value < 0) return this.fault(`negative_${column}`, 0);
    if (Number.isInteger(value) || !Number.isFinite(value)) return this.fault(`inexact_${column}`, null);
    return this.fault(`fractional_${column}`, Math.trunc(value));
  }

  /** `whole` without `part` where it contains it; a part that was not recorded takes nothing off. */
  without(whole: number | null, part: number | null, includes: boolean | null, name: string): number | null {
    if (whole === null || part === null || part === 0 || includes === false) return whole;
    if (includes === null) return this.fault(`unknown_overlap_${name}`, null);
    return whole - part;
  }

  /** A subset can be no greater than the whole; where it is, the split is not known. */
  subset(part: number | null, whole: number | null, name: string): number | null {
    if (part === null || whole === null || part <= whole) return part;
    return this.fault(`${name}_exceeds_whole`, whole);
  }
}

/**
 * Makes the buckets of one observation disjoint. Counted columns are null where the native counter is absent, where an
 * overlap is not known, or (policy `strict`) where the counters contradict each other.
 */
export function normalizeUsage(observed: NativeCounters, policy: Accounting): Normalized {
  const books = new Books(policy);
  const native = {
    input_tokens: books.count('input_tokens', observed.input_tokens),
    output_tokens: books.count('output_tokens', observed.output_tokens),
    cache_read_tokens: books.count('cache_read_tokens', observed.cache_read_tokens),
    cache_write_tokens: books.count('cache_write_tokens', observed.cache_write_tokens),
    cache_write_1h_tokens: books.count('cache_write_1h_tokens', observed.cache_write_1h_tokens),
    reasoning_tokens: books.count('reasoning_tokens', observed.reasoning_tokens),
    total_tokens: books.count('total_tokens', observed.total_tokens),
  };
  let input = books.without(
    native.input_tokens,
    native.cache_read_tokens,
    observed.input_includes_cache_read,
    'cache_read',
  );
  input = books.without(input, native.cache_write_tokens, observed.input_includes_cache_write, 'cache_write');
  if (input !== null && input < 0) input = books.fault('cache_exceeds_input', 0);
  const reasoning = native.reasoning_tokens;
  let output = native.output_tokens;
  if (output !== null && reasoning !== null && reasoning > 0) {
    if (observed.output_includes_reasoning === false) output += reasoning;
    else if (observed.output_includes_reasoning === null) output = books.fault('unknown_overlap_reasoning', null);
  }
  return {
    native,
    counted: {
      counted_input_tokens: input,
      counted_output_tokens: output,
      counted_cache_read_tokens: native.cache_read_tokens,
      counted_cache_write_tokens: native.cache_write_tokens,
      counted_cache_write_1h_tokens: books.subset(
        native.cache_write_1h_tokens,
        native.cache_write_tokens,
        'cache_write_1h',
      ),
      counted_reasoning_tokens: books.subset(reasoning, output, 'reasoning'),
    },
    adjustments: books.adjustments,
    problems: books.problems,
  };
}

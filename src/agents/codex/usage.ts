/**
 * The two usage ledgers of a rollout, which must never be added up.
 *
 * A. `token_usage_record`: one line a reply, keyed by `response_id`.
 * B. `event_msg/token_count`: a total that runs over the thread, and the vector of the last reply; re-emitted with an
 *    unchanged total in 30-67% of all lines, which then add nothing.
 */
import type { UsageObservation } from '../agent.ts';
import { asObject, field, type Json, numberField, objectField } from './guards.ts';
import type { TokenCount } from './scan.ts';

/** Counters of a reply or a running total. `input` contains `cached` and `cacheWrite`, `output` contains `reasoning`. */
export interface Vector {
  readonly input: number | null;
  readonly cached: number | null;
  readonly cacheWrite: number | null;
  readonly output: number | null;
  readonly reasoning: number | null;
  readonly total: number | null;
}

/** Reads a vector; null where there is none or none of its counters is a number. */
export function readVector(value: unknown): Vector | null {
  const object = asObject(value);
  if (object === null) return null;
  const vector = {
    input: numberField(object, 'input_tokens'),
    cached: numberField(object, 'cached_input_tokens'),
    cacheWrite: numberField(object, 'cache_write_input_tokens'),
    output: numberField(object, 'output_tokens'),
    reasoning: numberField(object, 'reasoning_output_tokens'),
    total: numberField(object, 'total_tokens'),
  };
  return Object.values(vector).some((counter) => counter !== null) ? vector : null;
}

const COUNTERS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** What has the wrong type in a vector, which stands under `name`; null where nothing has. Absent is not wrong. */
export function vectorFault(value: unknown, name: string): string | null {
  if (isAbsent(value)) return null;
  const object = asObject(value);
  if (object === null) return `${name} is no object of counters`;
  for (const counter of COUNTERS) {
    const count = field(object, counter);
    if (!isAbsent(count) && !Number.isFinite(count)) return `the counter ${counter} of ${name} is not a number`;
  }
  return null;
}

/** The same for a `token_count` payload. */
export function tokenCountFault(payload: Json): string | null {
  const value = field(payload, 'info');
  if (isAbsent(value)) return null;
  const info = asObject(value);
  if (info === null) return 'info is no object of counters';
  return (
    vectorFault(field(info, 'total_token_usage'), 'total_token_usage') ??
    vectorFault(field(info, 'last_token_usage'), 'last_token_usage')
  );
}

/** All counters are equal; one that is not written counts as 0, since a newer version may resume an older one's thread. */
export const sameVector = (a: Vector | null, b: Vector | null): boolean =>
  a !== null &&
  b !== null &&
  (a.total ?? 0) === (b.total ?? 0) &&
  (a.input ?? 0) === (b.input ?? 0) &&
  (a.output ?? 0) === (b.output ?? 0) &&
  (a.cached ?? 0) === (b.cached ?? 0) &&
  (a.cacheWrite ?? 0) === (b.cacheWrite ?? 0) &&
  (a.reasoning ?? 0) === (b.reasoning ?? 0);

/**
 * Whether a vector holds more than a total. Those that do not are no usage: the estimate after a compaction, the marker
 * of an overflown context window, the vectors of imported turns.
 */
export const isSpend = (v: Vector): boolean =>
  Boolean(v.input) || Boolean(v.output) || Boolean(v.cached) || Boolean(v.cacheWrite) || Boolean(v.reasoning);

const less = (now: number | null, before: number | null): boolean => (now ?? 0) < (before ?? 0);
const grown = (now: number | null, before: number | null): number | null => (now === null ? null : now - (before ?? 0));

/** Field-wise growth of a running total; the total itself where any field fell (it restarted) or it is the first. */
export function growth(now: Vector, before: Vector | null): Vector {
  if (before === null) return now;
  const fell =
    less(now.input, before.input) ||
    less(now.cached, before.cached) ||
    less(now.cacheWrite, before.cacheWrite) ||
    less(now.output, before.output) ||
    less(now.reasoning, before.reasoning) ||
    less(now.total, before.total);
  if (fell) return now;
  return {
    input: grown(now.input, before.input),
    cached: grown(now.cached, before.cached),
    cacheWrite: grown(now.cacheWrite, before.cacheWrite),
    output: grown(now.output, before.output),
    reasoning: grown(now.reasoning, before.reasoning),
    total: grown(now.total, before.total),
  };
}

/** What the last `token_count` line said; JSON-able. */
export interface CountMemory {
  total: Vector | null;
  /** `last` of a line without a total, by which a re-emission of such a line is known. */
  last: Vector | null;
}

/** Vectors of a `token_count` line; null where it has no `info`: news about rate limits only. */
export function readTokenCount(payload: Json): TokenCount | null {
  const info = objectField(payload, 'info');
  if (info === null) return null;
  return { total: readVector(field(info, 'total_token_usage')), last: readVector(field(info, 'last_token_usage')) };
}

export interface CountedTokens {
  readonly vector: Vector;
  readonly basis: 'last_sample' | 'cumulative_delta';
}

/**
 * What a `token_count` line adds under ledger B; null for a re-emission and for what is no usage. Moves the memory in any
 * case: inherited and skipped lines still set the previous total.
 */
export function countTokens(memory: CountMemory, { total, last }: TokenCount): CountedTokens | null {
  const before = memory.total;
  const repeated = total === null ? sameVector(last, memory.last) : sameVector(total, before);
  if (total !== null) memory.total = total;
  memory.last = total === null ? last : null;
  if (repeated || (total === null && last === null)) return null;
  const vector = last ?? growth(total as Vector, before);
  return isSpend(vector) ? { vector, basis: last === null ? 'cumulative_delta' : 'last_sample' } : null;
}

export interface UsageOrigin {
  readonly key: string | null;
  readonly basis: UsageObservation['basis'];
  readonly model: string | null;
  readonly provider: string | null;
  readonly serviceTier: string | null;
}

/** An observation of one reply, counters as recorded. */
export const observation = (vector: Vector, origin: UsageOrigin): UsageObservation => ({
  message_id: origin.key,
  request_id: null,
  model: origin.model,
  provider: origin.provider,
  input_tokens: vector.input,
  output_tokens: vector.output,
  cache_read_tokens: vector.cached,
  cache_write_tokens: vector.cacheWrite,
  cache_write_1h_tokens: null,
  reasoning_tokens: vector.reasoning,
  total_tokens: vector.total,
  input_includes_cache_read: true,
  input_includes_cache_write: true,
  output_includes_reasoning: true,
  reported_cost_usd: null,
  service_tier: origin.serviceTier,
  basis: origin.basis,
  state: 'final',
  key: origin.key,
  variant: null,
  native: true,
});

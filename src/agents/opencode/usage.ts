/** Counters of a reply. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { type Json, numberField, objectField, stringField } from '../dialects/json.ts';

export type Counters = Pick<
  UsageObservation,
  'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens' | 'reasoning_tokens' | 'total_tokens'
>;

/** The counters of a `tokens` object; null where it is absent, or all zero: the value before a step ends (writer). */
export function readTokens(record: Json, out: Emitter, position: Position): Counters | null {
  const tokens = objectField(record, 'tokens');
  if (tokens === null) return null;
  const reader = new CounterReader(out, position);
  const cache = objectField(tokens, 'cache');
  const counters: Counters = {
    input_tokens: reader.read(tokens, 'input'),
    output_tokens: reader.read(tokens, 'output'),
    cache_read_tokens: reader.read(cache, 'read'),
    cache_write_tokens: reader.read(cache, 'write'),
    reasoning_tokens: reader.read(tokens, 'reasoning'),
    total_tokens: reader.read(tokens, 'total'),
  };
  return Object.values(counters).some((value) => value !== null && value !== 0) ? counters : null;
}

const plus = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : a + b);

export const addCounters = (a: Counters, b: Counters): Counters => ({
  input_tokens: plus(a.input_tokens, b.input_tokens),
  output_tokens: plus(a.output_tokens, b.output_tokens),
  cache_read_tokens: plus(a.cache_read_tokens, b.cache_read_tokens),
  cache_write_tokens: plus(a.cache_write_tokens, b.cache_write_tokens),
  reasoning_tokens: plus(a.reasoning_tokens, b.reasoning_tokens),
  total_tokens: plus(a.total_tokens, b.total_tokens),
});

export interface Overlap {
  readonly input_includes_cache_read: boolean;
  readonly input_includes_cache_write: boolean;
  readonly output_includes_reasoning: boolean;
}

/** Versions up to this one stored the provider's raw input (binaries). */
const LAST_RAW_INPUT = [1, 0, 61];

function isAtMost(version: string | null, limit: readonly number[]): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (parts === undefined) return false;
  for (const [i, bound] of limit.entries()) if (parts[i] !== bound) return parts[i]! < bound;
  return true;
}

/**
 * How the counters of one step overlap. Input holds cache reads only in old versions, and there not for Anthropic's
 * models. Reasoning is inside output where the recorded total says so, or where there is none (old versions) and the
 * provider is not Google; in 2.x (`isNew`) never.
 */
export function overlapOf(counters: Counters, message: Json, version: string | null, isNew: boolean): Overlap {
  const provider = stringField(message, 'providerID') ?? '';
  const model = stringField(message, 'modelID') ?? '';
  const isAnthropic = provider === 'anthropic' || provider === 'amazon-bedrock' || model.startsWith('claude');
  return {
    input_includes_cache_read: !isNew && isAtMost(version, LAST_RAW_INPUT) && !isAnthropic,
    input_includes_cache_write: false,
    output_includes_reasoning: !isNew && isReasoningInside(counters, provider),
  };
}

function isReasoningInside(counters: Counters, provider: string): boolean {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, total_tokens } =
    counters;
  if (reasoning_tokens === null || reasoning_tokens <= 0) return false;
  if (total_tokens === null) return provider !== 'google' && provider !== 'google-vertex';
  const outside = (input_tokens ?? 0) + (output_tokens ?? 0) + (cache_read_tokens ?? 0) + (cache_write_tokens ?? 0);
  return total_tokens === outside;
}

/** Cost in dollars; null where absent. */
export const costOf = (record: Json): number | null => numberField(record, 'cost');

/** Counters: of replies (the command only), and the session's own sums. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { field, type Json, nameField, objectField } from '../dialects/json.ts';

/** How the prompt counter stands to those of the cache. */
export type Convention = 'excludes' | 'includes' | 'openai';

export interface ReplyUsage {
  readonly convention: Convention;
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly observation: Pick<
    UsageObservation,
    | 'model'
    | 'input_tokens'
    | 'output_tokens'
    | 'cache_read_tokens'
    | 'cache_write_tokens'
    | 'reasoning_tokens'
    | 'input_includes_cache_read'
    | 'input_includes_cache_write'
    | 'output_includes_reasoning'
  >;
}

/**
 * Usage as a provider gave it. Two adapters write the same keys with other meanings; the order of the keys is the only
 * difference between what they write (writer).
 */
export function readReplyUsage(usage: Json, out: Emitter, position: Position): ReplyUsage {
  const reader = new CounterReader(out, position);
  const first = (...names: readonly string[]): string =>
    names.find((name) => field(usage, name) !== undefined) ?? names[0]!;
  const prompt = reader.read(usage, first('prompt_tokens', 'promptTokens'));
  const completion = reader.read(usage, first('completion_tokens', 'completionTokens'));
  const details = objectField(usage, 'prompt_tokens_details') ?? objectField(usage, 'promptTokensDetails');
  const completionDetails = objectField(usage, 'completion_tokens_details');
  const isCamel = objectField(usage, 'promptTokensDetails') !== null;
  const read = reader.read(details, isCamel ? 'cachedTokens' : 'cache_read_tokens');
  const written = reader.read(details, isCamel ? 'cacheWriteTokens' : 'cache_write_tokens');
  const hasBoth = read !== null || written !== null;
  const isBelow = prompt !== null && prompt < (read ?? 0) + (written ?? 0);
  const isStream = isCamel || Object.keys(usage)[0] === 'completion_tokens';
  const convention: Convention = !hasBoth ? 'openai' : isStream || isBelow ? 'excludes' : 'includes';
  const cached = convention === 'openai' ? reader.read(details, 'cached_tokens') : read;
  return {
    convention,
    prompt,
    completion,
    observation: {
      model: nameField(usage, 'model'),
      input_tokens: prompt,
      output_tokens: completion,
      cache_read_tokens: cached,
      cache_write_tokens: convention === 'openai' ? null : written,
      reasoning_tokens: reader.read(completionDetails, 'reasoning_tokens'),
      input_includes_cache_read: convention !== 'excludes',
      input_includes_cache_write: convention === 'includes',
      output_includes_reasoning: true,
    },
  };
}

export interface SessionUsage {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly cached: number | null;
  readonly written: number | null;
  readonly cost: number | null;
}

export function readSessionUsage(usage: Json, out: Emitter, position: Position): SessionUsage {
  const reader = new CounterReader(out, position);
  const details = objectField(usage, 'promptTokensDetails');
  return {
    prompt: reader.read(usage, 'promptTokens'),
    completion: reader.read(usage, 'completionTokens'),
    cached: reader.read(details, 'cachedTokens'),
    written: reader.read(details, 'cacheWriteTokens'),
    cost: reader.read(usage, 'totalCost'),
  };
}

/** What a response used: three objects may tell it, in three spellings, and mirror each other. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { asObject, field, type Json, nameField, objectField } from '../dialects/json.ts';
import { usageObservation } from '../dialects/rows.ts';

export interface UsageOwner {
  readonly messageId: string | null;
  readonly model: string | null;
  /** Null where neither response nor record has an id: the place is the key then. */
  readonly key: string | null;
}

/** Details are an object, or a list with one. */
function details(usage: Json | null, name: string): Json | null {
  const value = usage === null ? undefined : field(usage, name);
  return asObject(Array.isArray(value) ? value[0] : value);
}

/**
 * Input holds what came from the cache and what went there, and output holds reasoning, in spite of names like
 * Anthropic's; where the total says otherwise, the total is right (peer).
 */
export function readUsage(item: Json, owner: UsageOwner, position: Position, out: Emitter): UsageObservation | null {
  const message = objectField(objectField(item, 'message') ?? {}, 'usage');
  const data = objectField(item, 'providerData') ?? {};
  const own = objectField(data, 'usage');
  const raw = objectField(data, 'rawUsage');
  if (message === null && own === null && raw === null) return null;
  const reader = new CounterReader(out, position);
  const first = (names: readonly [string, string, string]): number | null =>
    message !== null
      ? reader.read(message, names[0])
      : own !== null
        ? reader.read(own, names[1])
        : reader.read(raw, names[2]);
  const input = first(['input_tokens', 'inputTokens', 'prompt_tokens']);
  const output = first(['output_tokens', 'outputTokens', 'completion_tokens']);
  const total = first(['total_tokens', 'totalTokens', 'total_tokens']);
  const cached =
    reader.read(message, 'cache_read_input_tokens') ??
    reader.read(details(own, 'inputTokensDetails'), 'cached_tokens') ??
    reader.read(details(raw, 'prompt_tokens_details'), 'cached_tokens') ??
    reader.read(raw, 'prompt_cache_hit_tokens');
  const written = reader.read(message, 'cache_creation_input_tokens');
  const reasoning =
    reader.read(details(own, 'outputTokensDetails'), 'reasoning_tokens') ??
    reader.read(details(raw, 'completion_tokens_details'), 'reasoning_tokens') ??
    reader.read(raw, 'completion_thinking_tokens');
  if ([input, output, total, cached].every((value) => value === null)) return null;
  const cache = (cached ?? 0) + (written ?? 0);
  const isBeside = cache > 0 && total !== null && total === (input ?? 0) + (output ?? 0) + cache;
  return usageObservation({
    message_id: owner.messageId,
    model: owner.model,
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cached,
    cache_write_tokens: written,
    reasoning_tokens: reasoning,
    total_tokens: total,
    input_includes_cache_read: !isBeside,
    input_includes_cache_write: !isBeside,
    output_includes_reasoning: true,
    basis: 'native',
    key: owner.key,
  });
}

/** The id of a response: random, and the same wherever its records are copied to. */
export const responseId = (item: Json): string | null =>
  nameField(objectField(item, 'providerData') ?? {}, 'messageId') ??
  nameField(objectField(item, 'message') ?? {}, 'id');

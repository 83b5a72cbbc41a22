/** Counters of a billed request. */
import type { Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { CounterReader } from '../dialects/counters.ts';
import { field, type Json, nameField, numberField, objectField } from '../dialects/json.ts';
import { eventAt, usageObservation } from '../dialects/rows.ts';
import type { Entry } from './decode.ts';

export interface UsageOptions {
  /** Counters to tell in place of the holder's own. */
  readonly usage?: Json | null;
  /** Whether copies of a request hold the same counters. */
  readonly isKeyedByCounters?: boolean;
  /** Whether input holds what came from the cache and what went there, where `usage` says so. */
  readonly inputHolds?: { readonly read: boolean; readonly write: boolean };
}

/**
 * Tells the `usage` of `holder` (a message, or an entry itself), if it has one. Input holds no cache; output holds
 * reasoning. Forks copy entries unchanged, so that one request is known by what it says of itself: ids alone collide
 * between unrelated sessions (eight hex digits).
 */
export function tellUsage(
  entry: Entry,
  holder: Json,
  kind: string,
  model: string | null,
  out: Emitter,
  { usage = objectField(holder, 'usage'), isKeyedByCounters = true, inputHolds }: UsageOptions = {},
): void {
  if (usage === null || (!out.wants.usage && !out.wants.sessions)) return;
  const reader = new CounterReader(out, entry.position);
  const input = reader.read(usage, 'input');
  const output = reader.read(usage, 'output');
  const cacheRead = reader.read(usage, 'cacheRead');
  const cacheWrite = reader.read(usage, 'cacheWrite');
  const oneHour = reader.read(usage, 'cacheWrite1h');
  const reasoning = reader.read(usage, 'reasoning') ?? reader.read(usage, 'reasoningTokens');
  const total = reader.read(usage, 'totalTokens');
  if ([input, output, cacheRead, cacheWrite].every((value) => value === null)) return;
  const provider = nameField(holder, 'provider');
  const own = field(holder, 'timestamp');
  const time = typeof own === 'number' ? epochTime(own, 'ms') : entry.stored;
  const usedModel = nameField(holder, 'model') ?? model;
  const responseId = nameField(holder, 'responseId');
  out.usage(
    eventAt(entry.sessionId, entry.id, `usage:${kind}`, entry.position, time),
    usageObservation({
      message_id: responseId,
      model: usedModel,
      provider,
      input_tokens: input,
      output_tokens: output,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      cache_write_1h_tokens: oneHour,
      reasoning_tokens: reasoning,
      total_tokens: total,
      input_includes_cache_read: inputHolds?.read === true || holdsCache(provider, input, output, cacheRead, total),
      input_includes_cache_write: inputHolds?.write === true,
      output_includes_reasoning: true,
      reported_cost_usd: costOf(usage),
      basis: 'native',
      key: keyOf(entry, holder, [
        provider,
        usedModel,
        ...(isKeyedByCounters ? [input, output, cacheRead, cacheWrite] : []),
        responseId,
        kind,
      ]),
      native: !entry.isCopy,
    }),
  );
}

const keyOf = (entry: Entry, holder: Json, facts: readonly (string | number | null)[]): string =>
  JSON.stringify([entry.id, entry.stored.timestampText, field(holder, 'timestamp') ?? null, ...facts]);

/** Google's counters held the cached tokens in early versions; the total proves it (writer). */
const holdsCache = (
  provider: string | null,
  input: number | null,
  output: number | null,
  cacheRead: number | null,
  total: number | null,
): boolean =>
  provider?.startsWith('google') === true &&
  (cacheRead ?? 0) > 0 &&
  total !== null &&
  total === (input ?? 0) + (output ?? 0);

function costOf(usage: Json): number | null {
  const cost = objectField(usage, 'cost');
  return cost === null ? null : numberField(cost, 'total');
}

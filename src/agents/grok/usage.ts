/** The ledger of a prompt: all calls of its turn, and those of the subagents that it waited for. */

import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { asObject, field, type Json, numberField, objectField } from '../dialects/json.ts';
import { usageObservation } from '../dialects/rows.ts';

/** Cost is told in ten-billionths of a dollar. */
const TICKS_PER_USD = 1e10;

const COUNTERS = {
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  total_tokens: 'totalTokens',
  cache_read_tokens: 'cachedReadTokens',
  cache_write_tokens: 'cacheCreationTokens',
  reasoning_tokens: 'reasoningTokens',
} as const;
type Counters = Record<keyof typeof COUNTERS, number | null>;

export interface TurnUsage {
  readonly slot: string;
  readonly observation: UsageObservation;
}

/**
 * Rows of a ledger: one a model where the split by model adds up to the same sums, else one. `model` is that of the turn.
 */
export function readTurnUsage(
  usage: Json,
  { promptId, model, isNative }: { promptId: string | null; model: string | null; isNative: boolean },
  out: Emitter,
  position: Position,
): TurnUsage[] {
  const whole = countersOf(usage, new CounterReader(out, position));
  if (Object.values(whole).every((value) => value === null)) return [];
  const row = (slot: string, key: string | null, of: string | null, counters: Counters, cost: number | null) => ({
    slot,
    observation: usageObservation({
      ...counters,
      request_id: promptId,
      model: of,
      basis: 'native',
      state: field(usage, 'usageIsIncomplete') === true ? 'partial' : 'final',
      key,
      native: isNative,
      input_includes_cache_read: true,
      input_includes_cache_write: true,
      output_includes_reasoning: true,
      reported_cost_usd: cost,
    }),
  });
  const models = Object.entries(objectField(usage, 'modelUsage') ?? {}).flatMap(([name, value]) => {
    const share = asObject(value);
    return share === null || name.trim() === '' ? [] : [[name, share] as const];
  });
  const shares = models.map(([name, share]) => [name, share, countersOf(share, null)] as const);
  if (
    shares.length < 2 ||
    !addsUp(
      whole,
      shares.map(([, , counters]) => counters),
    )
  )
    return [
      row(
        'usage',
        promptId,
        models.length === 1 ? models[0]![0] : models.length > 1 ? null : model,
        whole,
        costOf(usage),
      ),
    ];
  const costs = shares.map(([, share]) => costOf(share));
  const sum = costs.reduce<number | null>((a, b) => (a === null || b === null ? null : a + b), 0);
  const total = costOf(usage);
  // A cost that the models do not share out is the turn's, and stands in its first row.
  const isShared = sum !== null && total !== null && Math.abs(sum - total) < 1e-9;
  return shares.map(([name, , counters], index) =>
    row(
      `usage:${name}`,
      promptId === null ? null : JSON.stringify([promptId, name]),
      name,
      counters,
      isShared ? costs[index]! : index === 0 ? total : null,
    ),
  );
}

function countersOf(usage: Json, reader: CounterReader | null): Counters {
  const entries = Object.entries(COUNTERS).map(([column, name]) => [
    column,
    reader === null ? numberField(usage, name) : reader.read(usage, name),
  ]);
  return Object.fromEntries(entries) as Counters;
}

const addsUp = (whole: Counters, parts: readonly Counters[]): boolean =>
  (Object.keys(COUNTERS) as (keyof Counters)[]).every((column) => {
    const values = parts.map((part) => part[column]);
    return whole[column] === null
      ? values.every((value) => value === null)
      : values.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0) === whole[column];
  });

function costOf(usage: Json): number | null {
  const ticks = numberField(usage, 'costUsdTicks');
  return ticks === null ? null : ticks / TICKS_PER_USD;
}

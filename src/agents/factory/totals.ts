/** Totals of a session, as the sidecar keeps them. */
import { field, type Json } from '../dialects/json.ts';

export const TOTAL_KEYS = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheCreationTokens',
  'thinkingTokens',
] as const;

/** Numbers by key; what is no number stays as it is, to be reported; absent is null. */
export type Totals = Readonly<Record<string, unknown>>;

export const totalsOf = (usage: Json): Totals =>
  Object.fromEntries(TOTAL_KEYS.map((key) => [key, field(usage, key) ?? null]));

/** Own totals of a session that a compaction made: they began at those of the one before; null where they cannot have. */
export function without(own: Totals, parent: Totals): Totals | null {
  const rest: Record<string, unknown> = {};
  for (const key of TOTAL_KEYS) {
    const [mine, theirs] = [own[key], parent[key]];
    if (typeof theirs === 'number' && (typeof mine !== 'number' || mine < theirs)) return null;
    rest[key] = typeof mine === 'number' ? mine - (typeof theirs === 'number' ? theirs : 0) : mine;
  }
  return rest;
}

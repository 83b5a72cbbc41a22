/** Which of several observations of one `usage_key` is counted: a function of their set, never of their order. */

/** What the choice depends on. */
export interface Claim {
  /** Whether the observing session made the request. */
  readonly native: boolean;
  /** Tells replies apart that share a key by accident (request id); null = does not tell. Numbers and strings both serve. */
  readonly variant: string | number | null;
  /** Output counter; -1 where it is absent. */
  readonly output: number;
}

/** Native before copied, then the greatest output, then the earlier place; observations stand in order of place. */
const isBetter = (candidate: Claim, best: Claim): boolean =>
  candidate.native !== best.native ? candidate.native : candidate.output > best.output;

/**
 * Indexes of the observations that are counted in full; all others count zero. Mostly one. Two or more only where native
 * observations carry different variants: those are different replies (gateways reuse ids).
 *
 * `claims` are all observations of one key, in order of source and position.
 */
export function countedOwners(claims: readonly Claim[]): number[] {
  if (claims.length === 1) return [0];
  const byVariant = new Map<string | number, number>();
  let best = 0;
  for (let i = 0; i < claims.length; i++) {
    const claim = claims[i]!;
    if (i > 0 && isBetter(claim, claims[best]!)) best = i;
    if (!claim.native || claim.variant === null) continue;
    const rival = byVariant.get(claim.variant);
    if (rival === undefined || isBetter(claim, claims[rival]!)) byVariant.set(claim.variant, i);
  }
  return byVariant.size < 2 ? [best] : [...byVariant.values()];
}

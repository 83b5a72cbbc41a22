/** What the entries of a conversation used, summed. */
import type { UsageObservation } from '../agent.ts';
import { type Json, numberField, objectField } from '../dialects/json.ts';
import { usageObservation } from '../dialects/rows.ts';

/** A count that was given; null for none, and for an estimate. */
type Count = number | null;

/**
 * A compaction puts the sum of what it replaced on the entry that takes its place, and entries have no ids: the sum over
 * all of them is what stays the same. One estimate in a sum makes it one.
 */
export class UsageSum {
  private readonly models = new Set<string>();
  private readonly sums: Record<'input' | 'output' | 'cached' | 'total', Count> = {
    input: 0,
    output: 0,
    cached: 0,
    total: 0,
  };
  private cost: number | null = null;
  private isEmpty = true;

  add(usage: Json, model: string | null): void {
    const prompt = countOf(usage, 'prompt_tokens');
    const output = countOf(usage, 'completion_tokens');
    const cached = countOf(usage, 'cached_tokens');
    const total = countOf(usage, 'total_tokens');
    if ([prompt, output, cached, total].every((count) => count === undefined || count === 0)) return;
    this.isEmpty = false;
    if (model !== null) this.models.add(model);
    // One provider reports what was written to the cache as cached, and the prompt without either.
    const hasPrompt = typeof prompt === 'number';
    const input = hasPrompt && typeof cached === 'number' && cached <= prompt ? prompt - cached : prompt;
    this.sum('input', input);
    this.sum('output', output);
    this.sum('cached', cached);
    this.sum('total', total);
    const cost = numberField(usage, 'cost');
    if (cost !== null) this.cost = (this.cost ?? 0) + cost;
  }

  /** Null where nothing was used. */
  observation(key: string): UsageObservation | null {
    if (this.isEmpty) return null;
    const { input, output, cached, total } = this.sums;
    return usageObservation({
      model: this.models.size === 1 ? [...this.models][0]! : null,
      input_tokens: input,
      output_tokens: output,
      cache_read_tokens: cached,
      total_tokens: total,
      reported_cost_usd: this.cost,
      input_includes_cache_read: false,
      input_includes_cache_write: false,
      output_includes_reasoning: null,
      basis: 'session_total',
      state: 'unknown',
      key,
    });
  }

  private sum(name: keyof UsageSum['sums'], count: Count | undefined): void {
    const before = this.sums[name];
    // Absent counts add nothing; an estimate spoils the sum.
    if (count !== undefined) this.sums[name] = before === null || count === null ? null : before + count;
  }
}

/** Undefined where it is absent. */
function countOf(usage: Json, name: string): Count | undefined {
  const count = objectField(usage, name);
  if (count === null) return undefined;
  const actual = numberField(count, 'actual') ?? numberField(count, 'Actual');
  return actual !== null && Number.isSafeInteger(actual) && actual >= 0 ? actual : null;
}

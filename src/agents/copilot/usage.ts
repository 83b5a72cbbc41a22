/** Counters of a request: a whole turn, with all calls of its loop. The first that is there counts, never two. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { asObject, dig, field, type Json, nameField, objectsField } from '../dialects/json.ts';

export type RequestUsage = Pick<
  UsageObservation,
  | 'model'
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'input_includes_cache_read'
  | 'input_includes_cache_write'
  | 'output_includes_reasoning'
>;

const OVERLAP = {
  input_includes_cache_read: true,
  input_includes_cache_write: false,
  output_includes_reasoning: true,
} as const;

/** Rows of a request: one a model where totals by model are kept, else one. Empty where nothing is recorded. */
export function readRequestUsage(
  request: Json,
  model: string | null,
  out: Emitter,
  position: Position,
): RequestUsage[] {
  const totals = objectsField(request, 'modelTotals');
  if (totals.length > 0) {
    return totals.map((entry) => {
      const reader = new CounterReader(out, position);
      return {
        ...OVERLAP,
        model: nameField(entry, 'model'),
        input_tokens: reader.read(entry, 'inputTokens'),
        output_tokens: reader.read(entry, 'outputTokens'),
        cache_read_tokens: reader.read(entry, 'cachedTokens'),
      };
    });
  }
  const metadata = asObject(dig(request, 'result', 'metadata'));
  const own = field(request, 'promptTokens') !== undefined || field(request, 'completionTokens') !== undefined;
  const [holder, output] = own ? [request, 'completionTokens'] : [metadata, 'outputTokens'];
  if (holder === null) return [];
  const reader = new CounterReader(out, position);
  // The prompt is that of the last call only; what of it came from cache is not recorded.
  const prompt = reader.read(holder, 'promptTokens');
  const completion = reader.read(holder, output!);
  if (prompt === null && completion === null) return [];
  return [{ ...OVERLAP, model, input_tokens: prompt, output_tokens: completion, cache_read_tokens: null }];
}

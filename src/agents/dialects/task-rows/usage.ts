/** Counters in the JSON text of a row. */
import type { Position } from '../../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../../agent.ts';
import { CounterReader } from '../counters.ts';
import { asObject, boolField, type Json, numberField, parseOrUndefined, stringField } from '../json.ts';

/** How input stands to cache in a product's rows. */
export type InputRule = 'disjoint' | 'by_date';

/** From here on the input is the whole prompt, cache included, whatever the protocol (3.29.5, 2025-11-01). */
const INCLUSIVE_SINCE = Date.UTC(2025, 10, 1);

/** The object in a row's text; null where it is none: such a row has no usage, and is no damage. */
export const rowJson = (row: Json): Json | null => asObject(parseOrUndefined(stringField(row, 'text') ?? ''));

/** Members of a request's end stand for those of its beginning. */
export const merged = (started: Json, finished: Json): Json => ({ ...started, ...finished });

export type RowUsage = Pick<
  UsageObservation,
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'input_includes_cache_read'
  | 'input_includes_cache_write'
  | 'output_includes_reasoning'
  | 'reported_cost_usd'
>;

/** null where the row holds no counter, or says that its zeros are none. */
export function readRowUsage(
  request: Json,
  ts: number | null,
  rule: InputRule,
  out: Emitter,
  position: Position,
): RowUsage | null {
  if (boolField(request, 'usageMissing') === true) return null;
  const reader = new CounterReader(out, position);
  const input = reader.read(request, 'tokensIn');
  const output = reader.read(request, 'tokensOut');
  const written = reader.read(request, 'cacheWrites');
  const read = reader.read(request, 'cacheReads');
  if (input === null && output === null && written === null && read === null) return null;
  const includes = rule === 'by_date' && isInclusive(request, ts, input ?? 0, (written ?? 0) + (read ?? 0));
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read,
    cache_write_tokens: written,
    input_includes_cache_read: includes,
    input_includes_cache_write: includes,
    output_includes_reasoning: true,
    reported_cost_usd: numberField(request, 'cost'),
  };
}

function isInclusive(request: Json, ts: number | null, input: number, cache: number): boolean {
  if (input < cache) return false;
  if (ts !== null && ts >= INCLUSIVE_SINCE) return true;
  return stringField(request, 'apiProtocol') === 'openai';
}

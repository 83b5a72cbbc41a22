/** Usage of a thread: two records of it, neither of which is whole in all versions. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { asObject, field, type Json, objectField } from '../dialects/json.ts';
import { usageObservation } from '../dialects/rows.ts';

interface Counters {
  input: number;
  output: number;
  cacheWrite: number;
  cacheRead: number;
}

const totalOf = ({ input, output, cacheWrite, cacheRead }: Counters): number => input + output + cacheWrite + cacheRead;

/**
 * The sum over all requests, and the last request of each prompt. Versions in between left the sum as it was; what a
 * prompt holds is overwritten by its next request: the greater of the two is nearer to the truth. Zeros are not written.
 */
export function usageOf(document: Json, threadId: string, position: Position, out: Emitter): UsageObservation | null {
  const reader = new CounterReader(out, position);
  const read = (usage: Json): Counters => ({
    input: reader.read(usage, 'input_tokens') ?? 0,
    output: reader.read(usage, 'output_tokens') ?? 0,
    cacheWrite: reader.read(usage, 'cache_creation_input_tokens') ?? 0,
    cacheRead: reader.read(usage, 'cache_read_input_tokens') ?? 0,
  });
  const sum = read(objectField(document, 'cumulative_token_usage') ?? {});
  const requests: Counters = { input: 0, output: 0, cacheWrite: 0, cacheRead: 0 };
  // By prompt, or (older) a list by message.
  for (const value of Object.values(field(document, 'request_token_usage') ?? {})) {
    const usage = read(asObject(value) ?? {});
    for (const name of ['input', 'output', 'cacheWrite', 'cacheRead'] as const) requests[name] += usage[name];
  }
  const found = totalOf(sum) >= totalOf(requests) ? sum : requests;
  if (totalOf(found) === 0) return null;
  return usageObservation({
    input_tokens: found.input,
    output_tokens: found.output,
    cache_read_tokens: found.cacheRead,
    cache_write_tokens: found.cacheWrite,
    input_includes_cache_read: false,
    input_includes_cache_write: false,
    output_includes_reasoning: null,
    basis: 'session_total',
    state: 'unknown',
    key: threadId,
  });
}

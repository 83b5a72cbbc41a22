/** Counters as the program's model library gives them: the prompt holds what was cached, the completion the reasoning. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import type { Json } from '../dialects/json.ts';
import { nameField } from '../dialects/json.ts';

type Counters = Pick<
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

/** Where the cache is more than the prompt, it is reported apart (agents behind a protocol do so). */
export function readCounters(usage: Json, model: string | null, out: Emitter, position: Position): Counters {
  const reader = new CounterReader(out, position);
  const prompt = reader.read(usage, 'prompt_tokens');
  const read = reader.read(usage, 'cache_read_tokens');
  const written = reader.read(usage, 'cache_write_tokens');
  const includes = prompt === null || (read ?? 0) + (written ?? 0) <= prompt;
  return {
    model: nameField(usage, 'model') ?? model,
    input_tokens: prompt,
    output_tokens: reader.read(usage, 'completion_tokens'),
    cache_read_tokens: read,
    cache_write_tokens: written,
    reasoning_tokens: reader.read(usage, 'reasoning_tokens'),
    input_includes_cache_read: includes,
    input_includes_cache_write: includes,
    output_includes_reasoning: true,
  };
}

/** Counters of both programs: four that do not overlap; reasoning is in the output, and not told apart. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import type { Json } from '../dialects/json.ts';

const SPELLINGS = {
  cli: ['input_other', 'output', 'input_cache_read', 'input_cache_creation'],
  code: ['inputOther', 'output', 'inputCacheRead', 'inputCacheCreation'],
} as const;

export type Counters = Pick<
  UsageObservation,
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'input_includes_cache_read'
  | 'input_includes_cache_write'
  | 'output_includes_reasoning'
>;

/** Null where no counter is recorded. */
export function readCounters(
  usage: Json,
  spelling: keyof typeof SPELLINGS,
  out: Emitter,
  position: Position,
): Counters | null {
  const reader = new CounterReader(out, position);
  const [input, output, read, write] = SPELLINGS[spelling].map((name) => reader.read(usage, name)) as [
    number | null,
    number | null,
    number | null,
    number | null,
  ];
  if (input === null && output === null && read === null && write === null) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read,
    cache_write_tokens: write,
    input_includes_cache_read: false,
    input_includes_cache_write: false,
    output_includes_reasoning: true,
  };
}

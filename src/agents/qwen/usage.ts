/** Counters of a reply: those of the Gemini API, which this program also fills from other providers' answers. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { type Json, objectField } from '../dialects/json.ts';

export type Counters = Pick<
  UsageObservation,
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'reasoning_tokens'
  | 'total_tokens'
  | 'input_includes_cache_read'
  | 'input_includes_cache_write'
  | 'output_includes_reasoning'
>;

export function readUsage(record: Json, out: Emitter, position: Position): Counters | null {
  const usage = objectField(record, 'usageMetadata');
  if (usage === null) return null;
  const reader = new CounterReader(out, position);
  const prompt = reader.read(usage, 'promptTokenCount');
  const candidates = reader.read(usage, 'candidatesTokenCount');
  const thoughts = reader.read(usage, 'thoughtsTokenCount');
  const tool = reader.read(usage, 'toolUsePromptTokenCount');
  const total = reader.read(usage, 'totalTokenCount');
  const cached = reader.read(usage, 'cachedContentTokenCount');
  if ([prompt, candidates, thoughts, tool, total, cached].every((value) => value === null)) return null;
  return {
    // The prompt of tool use stands beside the prompt.
    input_tokens: prompt === null ? tool : prompt + (tool ?? 0),
    output_tokens: candidates,
    cache_read_tokens: cached,
    reasoning_tokens: thoughts,
    total_tokens: total,
    input_includes_cache_read: true,
    // Providers of the Anthropic kind: folded in, and not to be told apart (writer).
    input_includes_cache_write: false,
    output_includes_reasoning: isReasoningInside(prompt ?? 0, candidates ?? 0, thoughts ?? 0, tool ?? 0, total),
  };
}

/** Providers differ; the total shows it. Without one that fits: as the program itself guesses (writer). */
function isReasoningInside(
  prompt: number,
  output: number,
  reasoning: number,
  tool: number,
  total: number | null,
): boolean {
  if (reasoning === 0) return false;
  if (total === prompt + output) return true;
  if (total === prompt + output + reasoning || total === prompt + output + reasoning + tool) return false;
  return output > reasoning;
}

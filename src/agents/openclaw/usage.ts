/** Counters under the names that command line back ends write, as the vendor's own reader takes them (writer). */
import { dig, field, type Json, objectField } from '../dialects/json.ts';
import type { UsageOptions } from '../pi_agent/usage.ts';

type Names = readonly string[];

/** Paths in the order in which they are looked for. */
const INPUT: Names = ['input', 'inputTokens', 'input_tokens', 'promptTokens', 'prompt_tokens'];
const OUTPUT: Names = ['output', 'outputTokens', 'output_tokens', 'completionTokens', 'completion_tokens'];
const READ: Names = [
  'cacheRead',
  'cache_read',
  'cache_read_input_tokens',
  'cached_input_tokens',
  'cached',
  'cached_tokens',
  'input_tokens_details.cached_tokens',
  'prompt_tokens_details.cached_tokens',
];
const WRITE: Names = [
  'cacheWrite',
  'cache_write',
  'cache_creation_input_tokens',
  'cache_write_input_tokens',
  'input_tokens_details.cache_write_tokens',
  'prompt_tokens_details.cache_write_tokens',
  'prompt_tokens_details.cache_creation_input_tokens',
];
const REASONING: Names = [
  'reasoning',
  'reasoningTokens',
  'reasoning_tokens',
  'completion_tokens_details.reasoning_tokens',
  'output_tokens_details.reasoning_tokens',
  'output_tokens_details.thinking_tokens',
];
const TOTAL: Names = ['total', 'totalTokens', 'total_tokens'];

/** The first of the names that the record has. */
function found(usage: Json, names: Names): { readonly name: string | null; readonly value: unknown } {
  for (const name of names) {
    const value = dig(usage, ...name.split('.'));
    if (value !== undefined && value !== null) return { name, value };
  }
  return { name: null, value: null };
}

/** What a request used, in pi's names. Input holds what came from cache and went there where its names are an API's own. */
export function readUsage(holder: Json): UsageOptions {
  const usage = objectField(holder, 'usage');
  if (usage === null) return { usage };
  const [input, read, write] = [found(usage, INPUT), found(usage, READ), found(usage, WRITE)];
  const isOwn = input.name === 'input';
  const isRead = (...names: Names): boolean => read.name !== null && names.includes(read.name);
  return {
    usage: {
      input: input.value,
      output: found(usage, OUTPUT).value,
      cacheRead: read.value,
      cacheWrite: write.value,
      cacheWrite1h: field(usage, 'cacheWrite1h'),
      reasoning: found(usage, REASONING).value,
      totalTokens: found(usage, TOTAL).value,
      cost: field(usage, 'cost'),
    },
    inputHolds: {
      read:
        isRead('cached_tokens') ||
        read.name?.includes('.') === true ||
        (!isOwn && isRead('cached_input_tokens', 'cached')),
      write: !isOwn && (write.name === 'cache_write_input_tokens' || write.name?.includes('.') === true),
    },
  };
}

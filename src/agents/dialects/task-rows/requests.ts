/** The history of requests, where it is all that is left of a task. */
import type { Emitter } from '../../agent.ts';
import { blockText, readBlocks } from '../anthropic.ts';
import { epochTime } from '../clock.ts';
import { CounterReader } from '../counters.ts';
import {
  asObject,
  boolField,
  dig,
  field,
  type Json,
  nameField,
  numberField,
  objectField,
  stringField,
} from '../json.ts';
import { eventAt, messageFields, NO_TIME, usageObservation } from '../rows.ts';
import { tellCalls, tellResults } from '../tell-tools.ts';
import type { HistoryFacts } from './history.ts';

const ENVIRONMENT = /^<environment_details>[\s\S]*<\/environment_details>$/;
const TYPED = /^<(task|user_message|feedback)>\n?([\s\S]*?)\n?<\/\1>$/;

/** Blocks that the program added are left out; what was typed stands in a tag. */
function typedContent(content: unknown): unknown {
  if (typeof content === 'string') return unwrapped(content);
  if (!Array.isArray(content)) return content;
  return content.flatMap((value) => {
    const block = asObject(value);
    const text = block === null ? null : stringField(block, 'text');
    if (block === null || text === null || stringField(block, 'type') !== 'text') return [value];
    return ENVIRONMENT.test(text.trim()) ? [] : [{ ...block, text: unwrapped(text) }];
  });
}

const unwrapped = (text: string): string => TYPED.exec(text.trim())?.[2] ?? text;

export function tellHistory(
  messages: readonly Json[],
  { sessionId, facts }: { sessionId: string; facts: HistoryFacts },
  out: Emitter,
): void {
  let request = 0;
  messages.forEach((message, index) => {
    const role = stringField(message, 'role');
    if (role !== 'user' && role !== 'assistant') {
      out.unknown(`history/${role ?? '(no role)'}`);
      return;
    }
    if (role === 'user') request++;
    const ts = numberField(message, 'ts');
    const position = { ordinal: index, byteStart: null, byteEnd: null, locator: `/${index}` };
    const at = (slot: string): ReturnType<typeof eventAt> =>
      eventAt(sessionId, nameField(message, 'id'), slot, position, ts === null ? NO_TIME : epochTime(ts, 'ms'));
    const content = field(message, 'content');
    const blocks = readBlocks(role === 'user' ? typedContent(content) : content, (type) => {
      if (type !== 'content/reasoning') out.unknown(type);
    });
    const thinking = blocks.thinking ?? reasoningOf(content);
    const model = asText(dig(message, 'modelInfo', 'modelId')) ?? facts.modelAt(ts, request);
    const kinds = blocks.kinds.filter((kind) => kind !== 'tool_result');
    if (blocks.text !== null || thinking !== null || kinds.includes('image')) {
      out.message(
        at('message'),
        messageFields({
          role,
          record_id: nameField(message, 'id'),
          model: role === 'assistant' ? model : null,
          text: blocks.text,
          thinking,
          is_meta: boolField(message, 'isSummary') === true,
          content_kinds: kinds,
        }),
      );
    }
    tellCalls(blocks.calls, { at }, out);
    tellResults(blocks.results, { at }, out);
    const tokens = objectField(objectField(message, 'metrics') ?? {}, 'tokens');
    if (tokens !== null) {
      const reader = new CounterReader(out, position);
      out.usage(
        at('usage'),
        usageObservation({
          model,
          input_tokens: reader.read(tokens, 'prompt'),
          output_tokens: reader.read(tokens, 'completion'),
          cache_read_tokens: reader.read(tokens, 'cached'),
          input_includes_cache_read: true,
          input_includes_cache_write: false,
          output_includes_reasoning: true,
          basis: 'native',
          key: null,
        }),
      );
    }
  });
}

const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** `reasoning` blocks hold their text as such, or as a summary of parts. */
function reasoningOf(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const blocks = content.map(asObject).filter((block) => block !== null && stringField(block, 'type') === 'reasoning');
  return blockText(blocks.map((block) => nameField(block!, 'text') ?? blockText(field(block!, 'summary')) ?? ''));
}

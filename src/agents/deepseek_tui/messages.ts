/** What messages say, without what the program put into them. */
import { type Blocks, readBlocks } from '../dialects/anthropic.ts';
import { asObject, field, type Json, stringField } from '../dialects/json.ts';

/** The program's note on the turn, before what was typed: a block of its own, or the beginning of the user's. */
const TURN_META = /^\s*<turn_meta>[\s\S]*?<\/turn_meta>/;

export const withoutTurnMeta = (text: string): string =>
  TURN_META.test(text) ? text.replace(TURN_META, '').trimStart() : text;

/** Answers that tools of the server gave; their content is JSON. */
const SERVER_RESULTS: ReadonlySet<string> = new Set(['tool_search_tool_result', 'code_execution_tool_result']);

function asDialect(block: Json, isUser: boolean): Json | null {
  const type = stringField(block, 'type');
  if (type === 'text' && isUser) {
    const text = withoutTurnMeta(stringField(block, 'text') ?? '');
    return text === '' ? null : { ...block, text };
  }
  if (type === null || !SERVER_RESULTS.has(type)) return block;
  return { ...block, type: 'tool_result', content: JSON.stringify(field(block, 'content') ?? null) };
}

/** Reads a message's content: a list of blocks, or (never by this writer) a text. null for anything else. */
export function readContent(message: Json, unknown: (type: string) => void): Blocks | null {
  const content = field(message, 'content');
  const isUser = stringField(message, 'role') === 'user';
  const list = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(list)) return null;
  const blocks = list.flatMap((value) => {
    const block = asObject(value);
    const read = block === null ? value : asDialect(block, isUser);
    return read === null ? [] : [read];
  });
  return readBlocks(blocks, unknown);
}

const ADDED_PROMPTS = ['<diagnostics file=', '[REPL round ', '[CYCLE STATE', '[CYCLE BRIEFING'];
const SUMMARY = '<archived_context';

export const isCycle = (role: string, text: string | null): boolean =>
  role === 'user' && text !== null && text.startsWith('[CYCLE ');

/** Whether the program wrote the message, in whose name it stands. */
export function isAdded(role: string, text: string | null, followsCycle: boolean): boolean {
  if (role === 'system') return true;
  if (role === 'assistant') return followsCycle || (text?.startsWith(SUMMARY) ?? false);
  return text !== null && ADDED_PROMPTS.some((start) => text.startsWith(start));
}

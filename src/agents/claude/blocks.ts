/** Content blocks of messages: what in them is text, and what tools are called and answer. */

import { ObjectScanner, scanPaths } from '../../framing/json-scan.ts';
import { keepBytes } from '../../framing/keep-bytes.ts';
import type { ToolCallRow } from '../../records/tables.ts';
import { identifyTool } from '../dialects/tools.ts';
import { asObject, field, idOrNull, type Json, stringField, textOrNull } from './guards.ts';
import type { Row } from './row.ts';

export const blockType = (block: Json): string => stringField(block, 'type') ?? '';

/** Blocks of a message's content; a string is one block of text. What is no object is no block. */
export function blocksOf(content: unknown): Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  const blocks: Json[] = [];
  for (const value of content) {
    const block = asObject(value);
    if (block !== null) blocks.push(block);
  }
  return blocks;
}

/** Text of a string or of text blocks, joined by a line feed; null where there is none. Images add none. */
export function textOf(content: unknown): string | null {
  if (typeof content === 'string') return textOrNull(content);
  const texts: string[] = [];
  for (const block of blocksOf(content)) {
    if (blockType(block) !== 'text') continue;
    const text = stringField(block, 'text');
    if (text !== null && text !== '') texts.push(text);
  }
  return textOrNull(texts.join('\n'));
}

export const isToolCall = (type: string): boolean =>
  type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use';
/** `tool_result` in user rows; `web_search_tool_result` and its like in replies, for tools the server ran. */
export const isToolResult = (type: string): boolean => type === 'tool_result' || type.endsWith('_tool_result');

export interface ToolCallBlock {
  readonly id: string | null;
  readonly name: string | null;
  readonly kind: ToolCallRow['kind'];
}

export function readToolCall(block: Json): ToolCallBlock {
  const type = blockType(block);
  const id = idOrNull(stringField(block, 'id'));
  const name = idOrNull(stringField(block, 'name'));
  if (type === 'server_tool_use') return { id, name, kind: 'server' };
  if (type === 'mcp_tool_use') return { id, name, kind: 'mcp' };
  return { id, ...identifyTool(name, field(block, 'input')) };
}

export interface ToolResultBlock {
  readonly callId: string | null;
  /** null where the store does not say, as in about half of real results. */
  readonly isError: boolean | null;
  readonly output: string | null;
}

export function readToolResult(block: Json): ToolResultBlock {
  const content = field(block, 'content');
  const recorded = field(block, 'is_error');
  const failure = asObject(content);
  const failed = failure !== null && (stringField(failure, 'type') ?? '').endsWith('_error');
  return {
    callId: idOrNull(stringField(block, 'tool_use_id')),
    isError: typeof recorded === 'boolean' ? recorded : failed ? true : null,
    output: textOf(content),
  };
}

const inputScanner = new ObjectScanner(scanPaths(['input']), 'loose');

const OPEN_BRACE = 0x7b;

/** Inputs of a reply's blocks as recorded, by index in `blocksOf`; null where a block has none. */
export function rawInputs(row: Row): (Uint8Array | null)[] {
  return row
    .elements('message.content')
    .filter((element) => element[0] === OPEN_BRACE)
    .map((block) => (inputScanner.scan(block) && inputScanner.isPresent(0) ? keepBytes(inputScanner.raw(0)) : null));
}

/** Tool calls. */
import type { ToolCallFields } from '../agent.ts';
import { identifyTool } from '../dialects/tools.ts';
import { field, type Json, nameField, stringField } from './guards.ts';

/** Tools that the provider runs itself: their calls have no result row. */
const NAMED_CALLS: ReadonlyMap<string, { name: string; kind: ToolCallFields['kind']; input: string }> = new Map([
  ['local_shell_call', { name: 'local_shell', kind: 'shell', input: 'action' }],
  ['web_search_call', { name: 'web_search', kind: 'server', input: 'action' }],
  ['tool_search_call', { name: 'tool_search', kind: 'server', input: 'arguments' }],
  // Its `result` is the image itself, so what is kept is the prompt.
  ['image_generation_call', { name: 'image_generation', kind: 'server', input: 'revised_prompt' }],
]);

/** JSON text as recorded: a string stays as it is, whether or not it is JSON. */
const asRecorded = (value: unknown): string | null => {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const parsed = (text: string | null): unknown => {
  if (text === null || !text.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Calls and results are paired by `call_id`; a call without one is known by its item id. */
export const callId = (payload: Json): string | null => nameField(payload, 'call_id') ?? nameField(payload, 'id');

/** `function_call {name, namespace?, arguments}` and `custom_tool_call {name, input}`. */
function namedByModel(type: string, payload: Json, isCopy: boolean): ToolCallFields {
  const custom = type === 'custom_tool_call';
  const input = asRecorded(field(payload, custom ? 'input' : 'arguments'));
  const name = nameField(payload, 'name');
  // Only skill wrappers need their arguments looked into; `identifyTool` asks for nothing else.
  const tool = identifyTool(name, custom ? null : parsed(name !== null && /skill/i.test(name) ? input : null));
  const isMcp = stringField(payload, 'namespace')?.startsWith('mcp__') ?? false;
  const kind = tool.kind !== 'function' ? tool.kind : isMcp ? 'mcp' : custom ? 'custom' : 'function';
  return {
    is_copy: isCopy,
    message_id: nameField(payload, 'id'),
    call_id: callId(payload),
    name: tool.name,
    kind,
    arguments: input,
  };
}

/** The call that a response item of this type is; null for other types. */
export function toolCall(type: string, payload: Json, isCopy: boolean): ToolCallFields | null {
  if (type === 'function_call' || type === 'custom_tool_call') return namedByModel(type, payload, isCopy);
  const known = NAMED_CALLS.get(type);
  if (known === undefined) return null;
  const { name, kind, input } = known;
  const recorded = asRecorded(field(payload, input));
  return {
    is_copy: isCopy,
    message_id: nameField(payload, 'id'),
    call_id: callId(payload),
    name,
    kind,
    arguments: recorded,
  };
}

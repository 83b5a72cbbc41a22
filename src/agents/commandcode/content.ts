/** Content of messages: blocks in Anthropic's spelling, and the parts of the AI SDK before them. */
import { type Blocks, blockText, readBlocks } from '../dialects/anthropic.ts';
import { asObject, field, type Json, jsonText, objectField, stringField } from '../dialects/json.ts';

/** A part in the spelling of blocks; what is one already stays as it is. */
function asBlock(value: unknown): unknown {
  const part = asObject(value);
  if (part === null) return value;
  switch (stringField(part, 'type')) {
    case 'reasoning':
      return { type: 'thinking', thinking: field(part, 'text') };
    case 'tool-call':
      return {
        type: 'tool_use',
        id: field(part, 'toolCallId'),
        name: field(part, 'toolName'),
        input: field(part, 'input'),
      };
    case 'tool-result':
      return { ...partResult(part), type: 'tool_result', tool_use_id: field(part, 'toolCallId') };
    case 'server_tool_result':
      return { ...part, type: 'tool_result' };
    default:
      return part;
  }
}

/** The type of an output says whether the tool failed. */
function partResult(part: Json): Json {
  const output = objectField(part, 'output');
  if (output === null) return { content: field(part, 'output') };
  const type = stringField(output, 'type') ?? '';
  const value = field(output, 'value');
  return { is_error: type.startsWith('error'), content: Array.isArray(value) ? blockText(value) : jsonText(value) };
}

export const readContent = (content: unknown, unknown: (type: string) => void): Blocks =>
  readBlocks(Array.isArray(content) ? content.map(asBlock) : content, unknown);

/**
 * What a model said or was told, in the spelling of Go: all members of a block are there, most of them empty, and
 * numbers of one common sequence (`llm.go`) say what it is.
 */
import { recordError } from '../../framing/errors.ts';
import {
  asObject,
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  listField,
  nameField,
  stringField,
} from '../dialects/json.ts';

const BLOCK = {
  text: 2,
  thinking: 3,
  redactedThinking: 4,
  toolUse: 5,
  toolResult: 6,
  serverToolUse: 7,
  searchResults: 8,
  searchResult: 9,
} as const;

export interface Content {
  readonly text: string | null;
  readonly thinking: string | null;
  readonly calls: readonly {
    readonly id: string | null;
    readonly name: string | null;
    readonly input: unknown;
    readonly arguments: string | null;
  }[];
  readonly results: readonly {
    readonly callId: string | null;
    readonly isError: boolean | null;
    readonly output: string | null;
  }[];
  readonly kinds: readonly string[];
}

/** Throws a record-scoped error where this is no message of a model. */
export function readContent(data: unknown, unknown: (type: string) => void): Content {
  const message = asObject(data);
  const blocks = message === null ? undefined : field(message, 'Content');
  if (message === null || (blocks !== null && blocks !== undefined && !Array.isArray(blocks)))
    throw recordError('wrong_type', 'llm_data holds no message');
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  const calls: Content['calls'][number][] = [];
  const results: Content['results'][number][] = [];
  const kinds = new Set<string>();
  for (const value of listField(message, 'Content')) {
    const block = asObject(value);
    if (block === null) throw recordError('wrong_type', 'llm_data holds a block that is no object');
    const type = field(block, 'Type');
    // A picture is a text block with its data in it.
    if (nameField(block, 'MediaType') !== null && nameField(block, 'Data') !== null) kinds.add('image');
    switch (type) {
      case BLOCK.text:
        texts.push(stringField(block, 'Text'));
        if (stringField(block, 'Text')) kinds.add('text');
        break;
      case BLOCK.thinking:
        thoughts.push(stringField(block, 'Thinking'));
        kinds.add('thinking');
        break;
      case BLOCK.redactedThinking:
        kinds.add('thinking');
        break;
      case BLOCK.toolUse:
      case BLOCK.serverToolUse: {
        const input = field(block, 'ToolInput');
        calls.push({
          id: nameField(block, 'ID'),
          name: nameField(block, 'ToolName'),
          input,
          arguments: jsonText(input),
        });
        kinds.add('tool_use');
        break;
      }
      case BLOCK.toolResult:
      case BLOCK.searchResults:
        results.push({
          callId: nameField(block, 'ToolUseID'),
          isError: boolField(block, 'ToolError'),
          output: resultText(block),
        });
        break;
      case BLOCK.searchResult:
        break;
      default:
        unknown(`content/${String(type).slice(0, 20)}`);
    }
  }
  return { text: joinTexts(texts), thinking: joinTexts(thoughts), calls, results, kinds: [...kinds] };
}

const resultText = (block: Json): string | null =>
  joinTexts(
    listField(block, 'ToolResult').map((value) => {
      const part = asObject(value);
      return part === null ? null : stringField(part, 'Text');
    }),
  );

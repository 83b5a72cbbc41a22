/** Content blocks in Anthropic's spelling, and its near relatives: text, thinking, calls and their answers. */
import {
  asObject,
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  ownEntry,
  stringField,
} from './json.ts';

export interface BlockCall {
  readonly id: string | null;
  readonly name: string | null;
  readonly input: unknown;
  /** As JSON text. */
  readonly arguments: string | null;
}

export interface BlockResult {
  readonly callId: string | null;
  readonly isError: boolean | null;
  readonly output: string | null;
  readonly block: Json;
}

export interface Blocks {
  readonly text: string | null;
  readonly thinking: string | null;
  readonly calls: readonly BlockCall[];
  readonly results: readonly BlockResult[];
  /** Kinds of blocks, each once. */
  readonly kinds: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  thinking: 'thinking',
  redacted_thinking: 'thinking',
  tool_use: 'tool_use',
  server_tool_use: 'tool_use',
  tool_result: 'tool_result',
  image: 'image',
  document: 'document',
  file: 'file',
  media: 'media',
};

/** Text of a string or of text blocks, joined; null where there is none. */
export function blockText(content: unknown): string | null {
  if (typeof content === 'string') return content === '' ? null : content;
  if (!Array.isArray(content)) return null;
  return joinTexts(
    content.map((value) => {
      if (typeof value === 'string') return value;
      const block = asObject(value);
      return block === null ? null : stringField(block, 'text');
    }),
  );
}

/** Reads content: a text, or blocks. `unknown` is told types of blocks that are not known. */
export function readBlocks(content: unknown, unknown: (type: string) => void): Blocks {
  if (typeof content === 'string') {
    return {
      text: content === '' ? null : content,
      thinking: null,
      calls: [],
      results: [],
      kinds: content === '' ? [] : ['text'],
    };
  }
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  const calls: BlockCall[] = [];
  const results: BlockResult[] = [];
  const kinds = new Set<string>();
  for (const value of Array.isArray(content) ? content : []) {
    if (typeof value === 'string') {
      texts.push(value);
      kinds.add('text');
      continue;
    }
    const block = asObject(value);
    if (block === null) continue;
    const type = stringField(block, 'type') ?? '(no type)';
    const kind = ownEntry(KINDS, type);
    if (kind === undefined) unknown(`content/${type}`);
    else kinds.add(kind);
    if (kind === 'text') texts.push(stringField(block, 'text'));
    else if (type === 'thinking') thoughts.push(stringField(block, 'thinking') ?? stringField(block, 'text'));
    else if (kind === 'tool_use') {
      const input = field(block, 'input');
      calls.push({ id: nameField(block, 'id'), name: nameField(block, 'name'), input, arguments: jsonText(input) });
    } else if (kind === 'tool_result') {
      results.push({
        callId: nameField(block, 'tool_use_id') ?? nameField(block, 'toolUseID'),
        isError: boolField(block, 'is_error'),
        output: blockText(field(block, 'content')),
        block,
      });
    }
  }
  return { text: joinTexts(texts), thinking: joinTexts(thoughts), calls, results, kinds: [...kinds] };
}

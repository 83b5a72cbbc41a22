/** Tagged blocks of a message. */
import { blockText } from '../dialects/anthropic.ts';
import {
  asObject,
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  ownEntry,
  stringField,
} from '../dialects/json.ts';

export interface Call {
  readonly id: string | null;
  readonly name: string | null;
  readonly input: unknown;
  readonly arguments: string | null;
}

export interface Result {
  readonly id: string | null;
  readonly isError: boolean | null;
  readonly output: string | null;
  readonly outputJson: string | null;
}

export interface Content {
  readonly text: string | null;
  readonly thinking: string | null;
  readonly calls: readonly Call[];
  readonly results: readonly Result[];
  readonly kinds: readonly string[];
}

/** Blocks that carry no rows. */
const SILENT = new Set([
  'conversationCompacted',
  'toolConfirmationRequest',
  'actionRequired',
  'systemNotification',
  'error',
  'summarizationRequested',
  'contextLengthExceeded',
]);

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  thinking: 'thinking',
  redactedThinking: 'thinking',
  reasoning: 'thinking',
  toolRequest: 'tool_use',
  frontendToolRequest: 'tool_use',
  toolResponse: 'tool_result',
  image: 'image',
  document: 'document',
};

export function readContent(
  content: unknown,
  note: { unknown(type: string): void; ignored(type: string): void },
): Content {
  const texts: (string | null)[] = [];
  const thoughts: string[] = [];
  const calls: Call[] = [];
  const results: Result[] = [];
  const kinds = new Set<string>();
  /** Whether the block before was a streamed piece of thinking. */
  let isStreaming = false;
  for (const value of Array.isArray(content) ? content : [{ type: 'text', text: content }]) {
    const block = asObject(value);
    if (block === null) continue;
    const type = stringField(block, 'type') ?? '(no type)';
    const kind = ownEntry(KINDS, type);
    if (kind !== undefined) kinds.add(kind);
    else if (SILENT.has(type)) note.ignored(`content/${type}`);
    else note.unknown(`content/${type}`);
    const isPiece = type === 'thinking' && stringField(block, 'signature') === '';
    if (type === 'text') texts.push(stringField(block, 'text'));
    else if (type === 'thinking' || type === 'reasoning') {
      const thought = stringField(block, type === 'thinking' ? 'thinking' : 'text') ?? '';
      // Streamed reasoning is stored a block a delta, without a signature.
      if (isPiece && isStreaming) thoughts[thoughts.length - 1] += thought;
      else thoughts.push(thought);
    } else if (kind === 'tool_use') {
      const call = readCall(block);
      if (call !== null) calls.push(call);
    } else if (kind === 'tool_result') results.push(readResult(block));
    isStreaming = isPiece;
  }
  return { text: joinTexts(texts), thinking: joinTexts(thoughts), calls, results, kinds: [...kinds] };
}

/** A request that the model spelled wrongly has the status `error`, and no name. */
function readCall(block: Json): Call | null {
  const call = objectField(block, 'toolCall');
  if (call === null || stringField(call, 'status') === 'error') return null;
  const value = objectField(call, 'value') ?? call;
  const input = field(value, 'arguments');
  return { id: nameField(block, 'id'), name: nameField(value, 'name'), input, arguments: jsonText(input) };
}

function readResult(block: Json): Result {
  const id = nameField(block, 'id');
  const result = objectField(block, 'toolResult');
  if (result === null) return { id, isError: null, output: null, outputJson: null };
  if (stringField(result, 'status') === 'error') {
    return { id, isError: true, output: stringField(result, 'error'), outputJson: null };
  }
  const value = field(result, 'value');
  // Old results are the content itself.
  const whole = asObject(value);
  const content = whole === null ? value : field(whole, 'content');
  const flag = whole === null ? null : boolField(whole, 'isError');
  return {
    id,
    isError: flag ?? false,
    output: blockText(content),
    outputJson: whole === null ? null : jsonText(field(whole, 'structuredContent')),
  };
}

/** Parts of a response: text, thinking, tools. */
import {
  asObject,
  boolField,
  dig,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  stringField,
} from '../dialects/json.ts';

export interface Invocation {
  readonly name: string | null;
  readonly callId: string | null;
  readonly isComplete: boolean;
  readonly isError: boolean | null;
  readonly arguments: string | null;
}

export interface Response {
  readonly text: string | null;
  readonly thinking: string | null;
  readonly invocations: readonly Invocation[];
  readonly isEmpty: boolean;
}

/** Parts of the screen, which neither are text nor end it. */
const SILENT = new Set([
  'undoStop',
  'codeblockUri',
  'textEditGroup',
  'textEdit',
  'notebookEdit',
  'notebookEditGroup',
  'progressMessage',
  'progressTask',
  'progressTaskSerialized',
  'progressTaskResult',
  'warning',
  'info',
  'confirmation',
  'elicitation',
  'elicitation2',
  'elicitationSerialized',
  'command',
  'references',
  'codeCitation',
  'treeData',
  'multiDiffData',
  'extensions',
  'prepareToolInvocation',
  'mcpServersStarting',
  'pullRequest',
  'clearToPreviousToolInvocation',
  'move',
  'workspaceEdit',
  'hook',
  'questionCarousel',
]);

/** `name` of the reference, else the last part of its path, in backticks: it stands in a sentence. */
function referenceText(part: Json): string {
  const reference = objectField(part, 'inlineReference');
  const path =
    reference === null
      ? null
      : (nameField(reference, 'path') ??
        asText(dig(reference, 'uri', 'path')) ??
        asText(dig(reference, 'location', 'uri', 'path')));
  const name =
    nameField(part, 'name') ??
    (reference === null ? null : nameField(reference, 'name')) ??
    path?.split('/').pop() ??
    '';
  return `\`${name}\``;
}

const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Text of a part; null where it has none; undefined where the part is of another kind. */
function textOfPart(part: Json, kind: string | null): string | null | undefined {
  switch (kind) {
    case null:
      return stringField(part, 'value');
    case 'markdownContent':
    case 'markdownVuln':
      return asText(dig(part, 'content', 'value')) ?? stringField(part, 'value') ?? stringField(part, 'content');
    case 'inlineReference':
      return referenceText(part);
    default:
      return undefined;
  }
}

export function readResponse(response: unknown, unknown: (type: string) => void): Response {
  if (typeof response === 'string') {
    return { text: response === '' ? null : response, thinking: null, invocations: [], isEmpty: response === '' };
  }
  if (!Array.isArray(response)) return { text: null, thinking: null, invocations: [], isEmpty: true };
  const blocks: string[] = [];
  const thoughts: string[] = [];
  const invocations: Invocation[] = [];
  let block = '';
  const endBlock = (): void => {
    if (block.trim() !== '') blocks.push(block);
    block = '';
  };
  for (const value of response) {
    const part = typeof value === 'string' ? { value } : asObject(value);
    if (part === null) continue;
    const kind = stringField(part, 'kind');
    const text = textOfPart(part, kind);
    // Text parts stand side by side: a reference is in the middle of a sentence.
    if (text !== undefined) block += text ?? '';
    else if (kind === 'thinking') {
      endBlock();
      const thought = field(part, 'value');
      thoughts.push(
        Array.isArray(thought)
          ? thought.filter((piece) => typeof piece === 'string').join('')
          : (asText(thought) ?? ''),
      );
    } else if (kind === 'toolInvocationSerialized' || kind === 'toolInvocation') {
      endBlock();
      invocations.push(readInvocation(part));
    } else if (kind !== null && !SILENT.has(kind)) unknown(`response/${kind}`);
  }
  endBlock();
  return { text: joinTexts(blocks), thinking: joinTexts(thoughts), invocations, isEmpty: response.length === 0 };
}

function readInvocation(part: Json): Invocation {
  const details = objectField(part, 'resultDetails');
  const data = objectField(part, 'toolSpecificData');
  return {
    name: nameField(part, 'toolId'),
    callId: nameField(part, 'toolCallId'),
    isComplete: boolField(part, 'isComplete') === true,
    isError: details === null ? null : boolField(details, 'isError'),
    arguments: data === null ? null : jsonText(field(data, 'rawInput') ?? field(data, 'commandLine')),
  };
}

/** Calls and answers in the form in which the model saw them: arguments and outputs by call id. */
export function modelForm(request: Json): {
  arguments: ReadonlyMap<string, string>;
  outputs: ReadonlyMap<string, string>;
} {
  const given = new Map<string, string>();
  const outputs = new Map<string, string>();
  const rounds = dig(request, 'result', 'metadata', 'toolCallRounds');
  for (const round of Array.isArray(rounds) ? rounds.map(asObject) : []) {
    const calls = round === null ? undefined : field(round, 'toolCalls');
    for (const call of Array.isArray(calls) ? calls.map(asObject) : []) {
      const id = call === null ? null : nameField(call, 'id');
      const text = call === null ? null : jsonText(field(call, 'arguments'));
      if (id !== null && text !== null) given.set(id, text);
    }
  }
  const results = asObject(dig(request, 'result', 'metadata', 'toolCallResults'));
  for (const [id, result] of Object.entries(results ?? {})) {
    const content = asObject(result) === null ? undefined : field(asObject(result)!, 'content');
    const texts = Array.isArray(content)
      ? content.map(asObject).map((item) => (item === null ? null : asText(field(item, 'value'))))
      : [];
    const text = joinTexts(texts);
    if (text !== null) outputs.set(id, text);
  }
  return { arguments: given, outputs };
}

/** Messages as OpenAI's chat completions spell them: roles, tool calls with arguments as JSON text, tool answers. */
import {
  asObject,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  objectsField,
  ownEntry,
  stringField,
} from './json.ts';

export interface ChatCall {
  readonly id: string | null;
  readonly name: string | null;
  /** Parsed where it is JSON: for the kind of the tool. */
  readonly input: unknown;
  /** As recorded. */
  readonly arguments: string | null;
}

export interface ChatContent {
  readonly text: string | null;
  /** Kinds of the parts, each once. */
  readonly kinds: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  image_url: 'image',
  input_image: 'image',
  image: 'image',
  input_audio: 'audio',
  file: 'file',
};

/** Content: a text, or parts of which the texts are joined. `unknown` is told types of parts that are not known. */
export function readChatContent(content: unknown, unknown: (type: string) => void): ChatContent {
  if (typeof content === 'string') return content === '' ? NOTHING : { text: content, kinds: ['text'] };
  if (!Array.isArray(content)) return NOTHING;
  const texts: (string | null)[] = [];
  const kinds = new Set<string>();
  for (const value of content) {
    if (typeof value === 'string') {
      texts.push(value);
      kinds.add('text');
      continue;
    }
    const part = asObject(value);
    if (part === null) continue;
    const type = stringField(part, 'type') ?? '(no type)';
    const kind = ownEntry(KINDS, type);
    if (kind === undefined) unknown(`content/${type}`);
    else kinds.add(kind);
    if (kind === 'text') texts.push(stringField(part, 'text'));
  }
  return { text: joinTexts(texts), kinds: [...kinds] };
}

const NOTHING: ChatContent = { text: null, kinds: [] };

/** `tool_calls` of a reply; arguments that are no JSON stay as they are. */
export function readToolCalls(message: Json, key = 'tool_calls'): ChatCall[] {
  return objectsField(message, key).map((call) => {
    const called = objectField(call, 'function') ?? call;
    const given = field(called, 'arguments');
    return {
      id: nameField(call, 'id'),
      name: nameField(called, 'name'),
      input: typeof given === 'string' ? parsed(given) : given,
      arguments: jsonText(given),
    };
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

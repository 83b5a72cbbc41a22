/** Content of messages and answers. */
import {
  asObject,
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  objectField,
  stringField,
} from '../dialects/json.ts';

export interface ItemContent {
  readonly text: string | null;
  readonly thinking: string | null;
  readonly kinds: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  reasoning_text: 'thinking',
  image: 'image',
  input_image: 'image',
  image_url: 'image',
  image_blob_ref: 'image',
  input_file: 'file',
  file: 'file',
  tool_use: 'tool_use',
  tool_result: 'tool_result',
  refusal: 'text',
};

/** Some writers name the text like the type of the item. */
const textOf = (item: Json): string | null =>
  stringField(item, 'text') ??
  stringField(item, 'input_text') ??
  stringField(item, 'output_text') ??
  stringField(item, 'refusal');

export function readContent(content: unknown, unknown: (type: string) => void): ItemContent {
  if (typeof content === 'string')
    return content === ''
      ? { text: null, thinking: null, kinds: [] }
      : { text: content, thinking: null, kinds: ['text'] };
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  const kinds = new Set<string>();
  for (const value of Array.isArray(content) ? content : []) {
    const item = typeof value === 'string' ? { type: 'text', text: value } : asObject(value);
    if (item === null) continue;
    const type = stringField(item, 'type') ?? (textOf(item) === null ? '(no type)' : 'text');
    const kind = KINDS[type];
    if (kind === undefined) unknown(`content/${type}`);
    else kinds.add(kind);
    if (kind === 'text') texts.push(textOf(item));
    else if (kind === 'thinking') thoughts.push(textOf(item));
  }
  return { text: joinTexts(texts), thinking: joinTexts(thoughts), kinds: [...kinds] };
}

/** Thoughts of a reasoning item; what the provider sent stands beside them. */
export function reasoningText(item: Json): string | null {
  const texts = (name: string): string | null => {
    const content = field(item, name);
    if (typeof content === 'string') return content === '' ? null : content;
    return joinTexts(
      (Array.isArray(content) ? content : []).map((value) => stringField(asObject(value) ?? {}, 'text')),
    );
  };
  return texts('content') ?? texts('rawContent');
}

/** An answer: a text, a text in an object, or blocks. */
export function outputText(output: unknown): string | null {
  if (Array.isArray(output)) return readContent(output, () => undefined).text;
  const object = asObject(output);
  return object === null ? jsonText(output) : (stringField(object, 'text') ?? jsonText(output));
}

const REMINDERS = /^(?:\s*<system-reminder\b[^>]*>(?:(?!<\/system-reminder>)[\s\S])*<\/system-reminder>)+\s*$/;

/** Whether nobody typed a user's message. */
export function isInjected(item: Json, text: string | null): boolean {
  const data = objectField(item, 'providerData') ?? {};
  if (['isMeta', 'skipRun', 'isCompactSummary'].some((name) => boolField(data, name) === true)) return true;
  return text !== null && REMINDERS.test(text);
}

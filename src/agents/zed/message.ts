/** Messages of a document, of both generations, in one form. */
import type { Emitter } from '../agent.ts';
import {
  asObject,
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  listField,
  nameField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import type { ReadCall, ReadResult } from '../dialects/tell-tools.ts';

export interface Message {
  readonly id: string | null;
  readonly role: 'user' | 'assistant';
  readonly text: string | null;
  readonly thinking: string | null;
  readonly calls: readonly ReadCall[];
  readonly results: readonly ReadResult[];
  readonly kinds: readonly string[];
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['Text', 'text'],
  ['text', 'text'],
  ['Thinking', 'thinking'],
  ['thinking', 'thinking'],
  ['RedactedThinking', 'thinking'],
  ['redacted_thinking', 'thinking'],
  ['ToolUse', 'tool_use'],
  ['Image', 'image'],
  // What was attached: its contents were not typed.
  ['Mention', 'mention'],
]);

type Note = Pick<Emitter, 'ignored' | 'unknown'>;

/** A value that says by its only key what it is: `{"Text": …}`, or the bare name of a case without contents. */
function tagOf(value: unknown): readonly [tag: string, contents: unknown] | null {
  if (typeof value === 'string') return [value, null];
  const object = asObject(value);
  const [entry] = object === null ? [] : Object.entries(object);
  return entry ?? null;
}

/** Null for what is no message that anybody wrote; undefined for what is none at all. */
export function readMessage(value: unknown, note: Note): Message | null | undefined {
  const object = asObject(value);
  if (object !== null && stringField(object, 'role') !== null) return readLegacy(object, note);
  const [tag, contents] = tagOf(value) ?? [];
  if (tag === undefined) return undefined;
  const message = asObject(contents);
  if (tag === 'User' || tag === 'Agent') return message === null ? undefined : readTagged(tag, message, note);
  if (tag === 'Resume' || tag === 'Compaction') note.ignored(`message/${tag}`);
  else note.unknown(`message/${tag}`);
  return null;
}

function readTagged(tag: 'User' | 'Agent', message: Json, note: Note): Message {
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  const calls: ReadCall[] = [];
  const kinds = new Set<string>();
  for (const value of listField(message, 'content')) {
    const [type = '(no type)', contents] = tagOf(value) ?? [];
    const kind = KINDS.get(type);
    if (kind === undefined) {
      note.unknown(`content/${type}`);
      continue;
    }
    kinds.add(kind);
    const block = asObject(contents) ?? {};
    if (type === 'Text') texts.push(typeof contents === 'string' ? contents : null);
    else if (type === 'Thinking') thoughts.push(stringField(block, 'text'));
    else if (type === 'ToolUse') calls.push(readCall(block));
  }
  return {
    id: tag === 'User' ? nameField(message, 'id') : null,
    role: tag === 'User' ? 'user' : 'assistant',
    text: joinTexts(texts),
    thinking: joinTexts(thoughts),
    calls,
    results: resultsOf(objectField(message, 'tool_results') ?? {}, calls),
    kinds: [...kinds],
  };
}

function readLegacy(message: Json, note: Note): Message | null {
  const role = stringField(message, 'role') ?? '';
  if (role !== 'user' && role !== 'assistant') {
    if (role === 'system') note.ignored('message/system');
    else note.unknown(`message/${role}`);
    return null;
  }
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  const kinds = new Set<string>();
  for (const segment of objectsField(message, 'segments')) {
    const type = stringField(segment, 'type') ?? '(no type)';
    const kind = KINDS.get(type);
    if (kind === undefined) {
      note.unknown(`content/${type}`);
      continue;
    }
    kinds.add(kind);
    if (type === 'text') texts.push(stringField(segment, 'text'));
    else if (type === 'thinking') thoughts.push(stringField(segment, 'text'));
  }
  const calls = objectsField(message, 'tool_uses').map(readCall);
  if (calls.length > 0) kinds.add('tool_use');
  return {
    // Numbers of their own begin anew in every thread.
    id: null,
    role,
    text: joinTexts(texts),
    thinking: joinTexts(thoughts),
    calls,
    results: objectsField(message, 'tool_results').map((result) => readResult(result, null)),
    kinds: [...kinds],
  };
}

/** Arguments are parsed; where a reply was cut, only their raw text is there. */
function readCall(call: Json): ReadCall {
  const given = field(call, 'input');
  const raw = stringField(call, 'raw_input');
  const input = given ?? (raw === null ? undefined : parseOrUndefined(raw));
  return {
    id: nameField(call, 'id'),
    name: nameField(call, 'name'),
    input,
    arguments: given === undefined || given === null ? (raw === '' ? null : raw) : jsonText(given),
  };
}

/** Answers stand with the calls, by their ids: in order of the calls, then those whose call is not there. */
function resultsOf(results: Json, calls: readonly ReadCall[]): ReadResult[] {
  const order = calls.map(({ id }) => id).filter((id) => id !== null);
  const ids = new Set([...order.filter((id) => Object.hasOwn(results, id)), ...Object.keys(results)]);
  return [...ids].flatMap((id) => {
    const result = objectField(results, id);
    return result === null ? [] : [readResult(result, id)];
  });
}

function readResult(result: Json, id: string | null): ReadResult {
  const content = field(result, 'content');
  const parts = Array.isArray(content) ? content : [content];
  return {
    callId: nameField(result, 'tool_use_id') ?? id,
    isError: boolField(result, 'is_error'),
    output: joinTexts(parts.map(partText)),
    outputJson: jsonText(field(result, 'output')),
  };
}

function partText(part: unknown): string | null {
  if (typeof part === 'string') return part;
  const object = asObject(part);
  return object === null ? null : stringField(object, 'Text');
}

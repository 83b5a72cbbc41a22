/** Messages and reasoning: of response items, and of the events that mirror them. */
import type { MessageFields } from '../agent.ts';
import { asObject, type Json, listField, nameField, objectField, stringField, textOrNull } from './guards.ts';
import { isInjectedText, typedItems } from './meta.ts';

export interface MessageState {
  readonly isCopy: boolean;
  readonly isActive: boolean;
  /** Current model; told only of assistant messages. */
  readonly model: string | null;
}

type Said = Pick<MessageFields, 'role' | 'text' | 'thinking' | 'is_meta' | 'content_kinds'> & {
  readonly kind: string;
  readonly id: string | null;
};

const messageFields = (said: Said, state: MessageState): MessageFields => ({
  is_copy: state.isCopy,
  message_id: said.id,
  record_id: null,
  parent_record_id: null,
  role: said.role,
  author: null,
  kind: said.kind,
  model: said.role === 'assistant' ? state.model : null,
  text: said.text,
  thinking: said.thinking,
  is_meta: said.is_meta,
  is_active: state.isActive,
  content_kinds: said.content_kinds,
});

/** `input_text`, `output_text`, `input_image` … as the kinds that agents share. */
const contentKind = (item: unknown): string => {
  const type = nameField(asObject(item) ?? {}, 'type') ?? 'unknown';
  return /^(?:input|output)_(.+)$/.exec(type)?.[1] ?? type;
};

const ROLES: ReadonlyMap<string, MessageFields['role']> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['developer', 'system'],
  ['system', 'system'],
  ['tool', 'tool'],
]);

const joinTexts = (items: readonly unknown[]): string =>
  items
    .map((item) => stringField(asObject(item) ?? {}, 'text'))
    .filter((text) => text !== null)
    .join('\n');

/** A `message` item; null where it has no role. A user message with typed and injected items gives the typed ones. */
export function messageItem(payload: Json, state: MessageState): MessageFields | null {
  const role = ROLES.get(stringField(payload, 'role') ?? '');
  if (role === undefined) return null;
  const plain = stringField(payload, 'content');
  const content = plain === null ? listField(payload, 'content') : [{ type: 'input_text', text: plain }];
  let items = content;
  let isMeta = role === 'system';
  if (role === 'user') {
    const typed = typedItems(payload, content);
    if (typed.includes(true)) items = content.filter((_, i) => typed[i]);
    else isMeta = content.length > 0;
  }
  const text = textOrNull(joinTexts(items));
  const kinds = [...new Set(content.map(contentKind))];
  // `phase` tells commentary on the way from the final answer.
  const kind = nameField(payload, 'phase') ?? 'message';
  const said = {
    role,
    text,
    thinking: null,
    is_meta: isMeta,
    content_kinds: kinds,
    kind,
    id: nameField(payload, 'id'),
  };
  return messageFields(said, state);
}

/** Readable reasoning: summaries, then the raw texts that do not repeat them. Empty where all of it is encrypted. */
export function reasoningText(payload: Json): string {
  const texts: string[] = [];
  for (const part of [...listField(payload, 'summary'), ...listField(payload, 'content')]) {
    const text = stringField(asObject(part) ?? {}, 'text');
    if (text !== null && text !== '' && !texts.includes(text)) texts.push(text);
  }
  return texts.join('\n');
}

const thinking = (text: string, id: string | null): Said => ({
  role: 'assistant',
  text: null,
  thinking: text,
  is_meta: false,
  content_kinds: ['thinking'],
  kind: 'reasoning',
  id,
});

/** A `reasoning` item: a row of its own; null where nothing of it can be read. */
export function reasoningItem(payload: Json, state: MessageState): MessageFields | null {
  const text = reasoningText(payload);
  return text === '' ? null : messageFields(thinking(text, nameField(payload, 'id')), state);
}

/** Reasoning that only an event holds. */
export function reasoningEvent(payload: Json, state: MessageState): MessageFields | null {
  const text = stringField(payload, 'text') ?? '';
  return text === '' ? null : messageFields(thinking(text, null), state);
}

const spoken = (role: 'user' | 'assistant', text: string, images: boolean, kind: string, id: string | null): Said => ({
  role,
  text: textOrNull(text),
  thinking: null,
  is_meta: role === 'user' && isInjectedText(text),
  content_kinds: [...(text === '' ? [] : ['text']), ...(images ? ['image'] : [])],
  kind,
  id,
});

const hasImages = (payload: Json): boolean =>
  listField(payload, 'images').length > 0 || listField(payload, 'local_images').length > 0;

/** `item_completed.item` of paginated rollouts; its types are spelled `UserMessage` or `userMessage`. */
function completedItem(item: Json): Said | null {
  const id = nameField(item, 'id');
  const content = listField(item, 'content');
  switch (nameField(item, 'type')?.toLowerCase()) {
    case 'usermessage':
      return spoken(
        'user',
        joinTexts(content),
        content.some((part) => /image/i.test(contentKind(part))),
        'message',
        id,
      );
    case 'agentmessage':
      return spoken('assistant', joinTexts(content), false, nameField(item, 'phase') ?? 'message', id);
    case 'reasoning': {
      const parts = [...listField(item, 'summary_text'), ...listField(item, 'raw_content')];
      const texts = parts.filter((part): part is string => typeof part === 'string' && part !== '');
      return texts.length === 0 ? null : thinking([...new Set(texts)].join('\n'), id);
    }
    default:
      return null;
  }
}

/** A mirror event as a message; null where it mirrors something else, or nothing that can be read. */
export function mirroredMessage(type: string, payload: Json, state: MessageState): MessageFields | null {
  if (type === 'agent_reasoning') return reasoningEvent(payload, state);
  let said: Said | null;
  if (type === 'item_completed') {
    const item = objectField(payload, 'item');
    said = item === null ? null : completedItem(item);
  } else {
    const text = stringField(payload, 'message') ?? '';
    const role = type === 'user_message' ? 'user' : 'assistant';
    said = spoken(role, text, hasImages(payload), nameField(payload, 'phase') ?? 'message', null);
  }
  if (said === null || (said.text === null && said.thinking === null && said.content_kinds.length === 0)) return null;
  return messageFields(said, state);
}

/** Whether a mirror event is a prompt that somebody typed. */
export function isTypedMirror(type: string, payload: Json): boolean {
  if (type !== 'user_message' && type !== 'item_completed') return false;
  const message = mirroredMessage(type, payload, { isCopy: false, isActive: true, model: null });
  return message !== null && message.role === 'user' && !message.is_meta;
}

/** The working folder that an environment message names: the only place where a bare rollout has it. */
export function environmentCwd(payload: Json): string | null {
  for (const item of listField(payload, 'content')) {
    const text = stringField(asObject(item) ?? {}, 'text');
    if (text === null || !text.slice(0, 64).trimStart().startsWith('<environment_context>')) continue;
    const cwd = /<cwd>([^<]+)<\/cwd>/.exec(text)?.[1]?.trim();
    if (cwd !== undefined && cwd !== '') return cwd;
  }
  return null;
}

/** A message in OpenAI's spelling, from a row or a file, to what it says. */
import type { Emitter, EventAt } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { asObject, field, type Json, joinTexts, listField, nameField, stringField } from '../dialects/json.ts';
import { readChatContent, readToolCalls } from '../dialects/openai.ts';
import { messageFields, toolResultFields } from '../dialects/rows.ts';
import { tellCalls } from '../dialects/tell-tools.ts';

export interface MessageRow {
  readonly recordId: string | null;
  readonly isActive: boolean;
  readonly isCopy: boolean;
  readonly isMeta: boolean;
  readonly kind: string;
  readonly at: (slot: string) => EventAt;
}

const ROLES = new Set(['user', 'assistant', 'system', 'tool']);

/** Content is a text or a list of parts; calls are a list. */
export function tellMessage(message: Json, row: MessageRow, out: Emitter): void {
  const role = stringField(message, 'role') ?? '';
  if (role === 'session_meta') {
    out.ignored('message/session_meta');
    return;
  }
  if (!ROLES.has(role)) {
    out.unknown(`message/${role === '' ? '(no role)' : role}`);
    return;
  }
  const { at, isCopy, recordId } = row;
  reportContent(field(message, 'content'), at('message').position, out);
  const content = readChatContent(field(message, 'content'), (type) => out.unknown(type));
  if (role === 'tool') {
    const callId = nameField(message, 'tool_call_id');
    out.toolResult(
      at(`result:${callId ?? 0}`),
      toolResultFields({ is_copy: isCopy, call_id: callId, output: content.text }),
    );
    return;
  }
  const thinking = thinkingOf(message);
  if (content.text !== null || thinking !== null || content.kinds.length > 0) {
    out.message(
      at('message'),
      messageFields({
        role: role as 'user' | 'assistant' | 'system',
        is_copy: isCopy,
        record_id: recordId,
        kind: row.kind,
        text: content.text,
        thinking,
        is_meta: role === 'system' || row.isMeta,
        is_active: row.isActive,
        content_kinds: [...content.kinds, ...(thinking === null ? [] : ['thinking'])],
      }),
    );
  }
  tellCalls(readToolCalls(message), { at, isCopy }, out);
}

/** The first of three places: they repeat each other. */
const thinkingOf = (message: Json): string | null =>
  nameField(message, 'reasoning') ??
  nameField(message, 'reasoning_content') ??
  joinTexts(
    listField(message, 'reasoning_details').map((value) => {
      const detail = asObject(value);
      return detail === null ? null : stringField(detail, 'text');
    }),
  );

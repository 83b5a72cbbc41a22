/** A row of `session_message`, the layout of 2.x: the whole message in one row. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import {
  dig,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  objectsField,
  ownEntry,
  stringField,
} from '../dialects/json.ts';
import { messageFields, type Time, toolCallFields, toolResultFields, usageObservation } from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { isCopied, messageEvent, type SessionFacts } from './decode.ts';
import { replyIdentity } from './message.ts';
import { costOf, overlapOf, readTokens } from './usage.ts';

export interface NewMessage {
  readonly id: string;
  readonly type: string;
  readonly data: Json;
  readonly position: Position;
  readonly time: Time;
}

const SILENT = new Set(['agent-switched', 'model-switched', 'location-switched', 'idle', 'shell']);

export function tellNewMessage(message: NewMessage, facts: SessionFacts, out: Emitter): void {
  const { type, data } = message;
  switch (type) {
    case 'user':
      tellText(message, { role: 'user', text: stringField(data, 'text') }, facts, out);
      break;
    case 'synthetic':
    case 'skill':
      tellText(message, { role: 'user', text: stringField(data, 'text'), is_meta: true }, facts, out);
      break;
    case 'system':
      tellText(message, { role: 'system', text: stringField(data, 'text'), is_meta: true }, facts, out);
      break;
    case 'compaction':
      tellText(message, { role: 'assistant', text: stringField(data, 'summary'), is_meta: true }, facts, out);
      tellUsage(message, facts, out);
      break;
    case 'assistant':
      tellAssistant(message, facts, out);
      tellUsage(message, facts, out);
      break;
    default:
      if (SILENT.has(type)) out.ignored(type);
      else out.unknown(type);
  }
}

function tellText(
  { id, type, data, position, time }: NewMessage,
  found: { role: 'user' | 'assistant' | 'system'; text: string | null; is_meta?: boolean },
  facts: SessionFacts,
  out: Emitter,
): void {
  const hasFiles = objectsField(data, 'files').length > 0;
  if (found.text === null && !hasFiles) return;
  out.message(
    messageEvent(facts, id, 'message', position, time),
    messageFields({
      ...found,
      is_copy: isCopied(facts, time),
      record_id: id,
      kind: type,
      content_kinds: [...(found.text === null ? [] : ['text']), ...(hasFiles ? ['file'] : [])],
    }),
  );
}

function tellAssistant(message: NewMessage, facts: SessionFacts, out: Emitter): void {
  const { id, data, position, time } = message;
  const content = objectsField(data, 'content');
  const texts = (type: string): string | null =>
    joinTexts(content.filter((item) => stringField(item, 'type') === type).map((item) => stringField(item, 'text')));
  const kinds: string[] = [];
  for (const item of content) {
    const type = stringField(item, 'type') ?? '(no type)';
    const kind = ownEntry(KINDS, type);
    if (kind === undefined) out.unknown(`content/${type}`);
    else if (!kinds.includes(kind)) kinds.push(kind);
  }
  if (kinds.length > 0) {
    out.message(
      messageEvent(facts, id, 'message', position, time),
      messageFields({
        role: 'assistant',
        is_copy: isCopied(facts, time),
        record_id: id,
        author: nameField(data, 'agent'),
        kind: message.type,
        model: modelOf(data),
        text: texts('text'),
        thinking: texts('reasoning'),
        content_kinds: kinds,
      }),
    );
  }
  content.forEach((item, index) => {
    if (stringField(item, 'type') === 'tool') tellTool(message, item, index, facts, out);
  });
}

const KINDS: Readonly<Record<string, string>> = { text: 'text', reasoning: 'thinking', tool: 'tool_use' };

const modelOf = (data: Json): string | null => {
  const model = objectField(data, 'model');
  return model === null ? null : nameField(model, 'id');
};

function tellTool(message: NewMessage, item: Json, index: number, facts: SessionFacts, out: Emitter): void {
  const { id, position } = message;
  const callId = nameField(item, 'id') ?? nameField(item, 'callID');
  const name = nameField(item, 'name');
  const state = objectField(item, 'state');
  const input = state === null ? undefined : field(state, 'input');
  const isCopy = isCopied(facts, message.time);
  const timeAt = (key: string): Time => {
    const own = epochTime(dig(item, 'time', key), 'ms');
    return own.timestamp === null ? message.time : own;
  };
  const slot = callId ?? String(index);
  out.toolCall(
    messageEvent(facts, id, `call:${slot}`, position, timeAt('created')),
    toolCallFields({
      is_copy: isCopy,
      message_id: id,
      call_id: callId,
      arguments: jsonText(input),
      ...identifyTool(name, input),
    }),
  );
  const status = state === null ? null : stringField(state, 'status');
  if (status !== 'completed' && status !== 'error') return;
  const results = objectsField(state!, 'content');
  out.toolResult(
    messageEvent(facts, id, `result:${slot}`, position, timeAt('completed')),
    toolResultFields({
      is_copy: isCopy,
      call_id: callId,
      is_error: status === 'error' || name === 'invalid',
      output:
        status === 'error'
          ? joinTexts([dig(state, 'error', 'message') as string | null].filter((text) => typeof text === 'string'))
          : joinTexts(results.map((result) => stringField(result, 'text'))),
    }),
  );
}

/** The request of a compaction is billed too. */
function tellUsage(message: NewMessage, facts: SessionFacts, out: Emitter): void {
  const { id, data, position, time } = message;
  const counters = readTokens(data, out, position);
  if (counters === null) return;
  const model = modelOf(data);
  const modelObject = objectField(data, 'model');
  const provider = modelObject === null ? null : nameField(modelObject, 'providerID');
  out.usage(
    messageEvent(facts, id, 'usage', position, time),
    usageObservation({
      ...counters,
      ...overlapOf(counters, data, facts.countingVersion, true),
      message_id: id,
      model,
      provider,
      basis: 'native',
      state: dig(data, 'time', 'completed') === undefined && message.type === 'assistant' ? 'partial' : 'final',
      reported_cost_usd: costOf(data),
      ...replyIdentity(facts, id, time, provider, model),
    }),
  );
}

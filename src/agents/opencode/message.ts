/** A message of 1.x with its parts. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import {
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
import { messageFields, type Time, toolCallFields, toolResultFields, usageObservation } from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { isCopied, messageEvent, type SessionFacts } from './decode.ts';
import { addCounters, type Counters, costOf, overlapOf, readTokens } from './usage.ts';

export interface Part {
  readonly id: string;
  readonly data: Json;
  readonly position: Position;
}

export interface HeldMessage {
  readonly id: string;
  readonly data: Json;
  readonly position: Position;
  readonly time: Time;
  readonly parts: Part[];
}

/** Parts that carry no rows. */
const SILENT = new Set([
  'step-start',
  'step-finish',
  'snapshot',
  'patch',
  'agent',
  'subtask',
  'retry',
  'compaction',
  'timeline',
]);

/** The tool under which the program records a call to a tool that does not exist: completed, but failed. */
const INVALID_TOOL = 'invalid';

export function tellMessage(message: HeldMessage, isActive: boolean, facts: SessionFacts, out: Emitter): void {
  const { data, parts } = message;
  const role = stringField(data, 'role');
  if (role !== 'user' && role !== 'assistant' && role !== 'model') {
    out.unknown(`message/${role ?? '(no role)'}`);
    return;
  }
  const isAssistant = role !== 'user';
  for (const { data: part } of parts) countType(stringField(part, 'type') ?? '(no type)', out);
  tellText(message, isAssistant, isActive, facts, out);
  for (const part of parts) if (stringField(part.data, 'type') === 'tool') tellTool(message, part, facts, out);
  if (isAssistant) tellUsage(message, facts, out);
}

function countType(type: string, out: Emitter): void {
  if (SILENT.has(type)) out.ignored(`part/${type}`);
  else if (type !== 'text' && type !== 'reasoning' && type !== 'tool' && type !== 'file') out.unknown(`part/${type}`);
}

const textsOf = (parts: readonly Part[], type: string, keep: (part: Json) => boolean): string | null =>
  joinTexts(
    parts
      .filter(({ data }) => stringField(data, 'type') === type && keep(data))
      .map(({ data }) => stringField(data, 'text')),
  );

function tellText(
  message: HeldMessage,
  isAssistant: boolean,
  isActive: boolean,
  facts: SessionFacts,
  out: Emitter,
): void {
  const { id, data, parts, position, time } = message;
  const isShown = (part: Json): boolean => boolField(part, 'ignored') !== true;
  const isTyped = (part: Json): boolean => isShown(part) && boolField(part, 'synthetic') !== true;
  const typed = textsOf(parts, 'text', isTyped);
  // What the program added to a prompt (file contents, reminders) is no part of it; alone, it is an injected message.
  const text = typed ?? textsOf(parts, 'text', isShown);
  const thinking = textsOf(parts, 'reasoning', () => true);
  const kinds = [...new Set(parts.map(({ data: part }) => stringField(part, 'type') ?? ''))].filter((kind) =>
    CONTENT.has(kind),
  );
  if (text === null && thinking === null && kinds.length === 0) return;
  const summary = boolField(data, 'summary') === true;
  out.message(
    messageEvent(facts, id, 'message', position, time),
    messageFields({
      role: isAssistant ? 'assistant' : 'user',
      is_copy: isCopied(facts, time),
      record_id: id,
      parent_record_id: nameField(data, 'parentID'),
      author: nameField(data, 'agent'),
      kind: summary ? 'compaction' : null,
      model: isAssistant ? nameField(data, 'modelID') : null,
      text,
      thinking,
      is_meta: isAssistant ? summary : typed === null && text !== null,
      is_active: isActive,
      content_kinds: kinds.map((kind) => (kind === 'reasoning' ? 'thinking' : kind === 'tool' ? 'tool_use' : kind)),
    }),
  );
}

const CONTENT = new Set(['text', 'reasoning', 'tool', 'file']);

function tellTool(message: HeldMessage, part: Part, facts: SessionFacts, out: Emitter): void {
  const state = objectField(part.data, 'state');
  const name = nameField(part.data, 'tool');
  const callId = nameField(part.data, 'callID');
  const input = state === null ? undefined : field(state, 'input');
  const isCopy = isCopied(facts, message.time);
  const at = (slot: string, time: unknown): ReturnType<typeof messageEvent> => {
    const own = epochTime(time, 'ms');
    return messageEvent(facts, part.id, slot, part.position, own.timestamp === null ? message.time : own);
  };
  out.toolCall(
    at('call', dig(state, 'time', 'start')),
    toolCallFields({
      is_copy: isCopy,
      message_id: message.id,
      call_id: callId,
      arguments: jsonText(input ?? dig(state, 'raw')),
      ...identifyTool(name, input),
    }),
  );
  const status = state === null ? null : stringField(state, 'status');
  if (status !== 'completed' && status !== 'error') return;
  out.toolResult(
    at('result', dig(state, 'time', 'end')),
    toolResultFields({
      is_copy: isCopy,
      call_id: callId,
      is_error: status === 'error' || name === INVALID_TOOL,
      output: stringField(state!, status === 'error' ? 'error' : 'output'),
      output_json: jsonText(field(state!, 'metadata')),
    }),
  );
}

/** The sum of the steps; of a message without any, what it says itself: its own counters are those of the last step. */
function countersOf(message: HeldMessage, out: Emitter): Counters | null {
  const steps = message.parts.filter(({ data }) => stringField(data, 'type') === 'step-finish');
  if (steps.length === 0) return readTokens(message.data, out, message.position);
  return steps
    .map(({ data, position }) => readTokens(data, out, position))
    .reduce((sum, step) => (sum === null ? step : step === null ? sum : addCounters(sum, step)), null);
}

function tellUsage(message: HeldMessage, facts: SessionFacts, out: Emitter): void {
  if (!out.wants.usage && !out.wants.sessions) return;
  const counters = countersOf(message, out);
  if (counters === null) return;
  const { id, data, position, time } = message;
  const model = nameField(data, 'modelID');
  const provider = nameField(data, 'providerID');
  out.usage(
    messageEvent(facts, id, 'usage', position, time),
    usageObservation({
      ...counters,
      ...overlapOf(counters, data, facts.countingVersion, false),
      message_id: id,
      model,
      provider,
      basis: 'native',
      // Complete once the reply has ended; until then its steps still add up.
      state: dig(data, 'time', 'completed') === undefined ? 'partial' : 'final',
      reported_cost_usd: costOf(data),
      ...replyIdentity(facts, id, time, provider, model),
    }),
  );
}

/**
 * A fork copies replies under new ids, with their times: one reply is known by project, time and model. Replies that
 * only share those are told apart by their ids.
 */
export const replyIdentity = (
  facts: SessionFacts,
  id: string,
  time: Time,
  provider: string | null,
  model: string | null,
): { key: string; variant: string | null; native: boolean } =>
  time.timestamp === null
    ? { key: id, variant: null, native: true }
    : {
        key: [facts.project, time.timestamp, provider, model].join(' '),
        variant: id,
        native: facts.created === null || time.timestamp >= facts.created,
      };

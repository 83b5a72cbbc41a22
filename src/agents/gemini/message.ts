/** A message of a session, reduced to what it says. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { CounterReader } from '../dialects/counters.ts';
import { answerOf, isFailed, type Parts, readParts } from '../dialects/gemini-parts.ts';
import {
  asObject,
  field,
  type Json,
  joinTexts,
  jsonText,
  listField,
  nameField,
  objectField,
  objectsField,
  ownEntry,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  type Time,
  toolCallFields,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';

interface Call {
  readonly id: string | null;
  readonly name: string | null;
  /** As parsed: for the kind of the tool; the text is what is told. */
  readonly kind: ReturnType<typeof identifyTool>;
  readonly args: string | null;
  readonly time: Time | null;
}

interface Result {
  readonly id: string | null;
  readonly isError: boolean | null;
  readonly output: string | null;
  readonly outputJson: string | null;
  readonly time: Time | null;
}

type Tokens = Readonly<Record<'input' | 'output' | 'cached' | 'thoughts' | 'tool' | 'total', number | null>>;

export interface Message {
  /** null: a row of its own, which nothing can change later. */
  readonly id: string | null;
  readonly type: 'user' | 'assistant' | 'system';
  readonly kind: string;
  readonly time: Time;
  readonly text: string | null;
  readonly thinking: string | null;
  readonly model: string | null;
  readonly isMeta: boolean;
  readonly kinds: readonly string[];
  readonly calls: readonly Call[];
  readonly results: readonly Result[];
  /** The last counters told for this id; they belong to one API reply. */
  readonly tokens: Tokens | null;
  /** Whether there is anything to show: a turn of function responses only is no message. */
  readonly isShown: boolean;
}

const TYPES: Readonly<Record<string, Message['type']>> = {
  user: 'user',
  gemini: 'assistant',
  model: 'assistant',
  qwen: 'assistant',
  assistant: 'assistant',
  info: 'system',
  warning: 'system',
  error: 'system',
};

/** Text with which the program opens what it injects as a user turn (writer). */
const INJECTED = ['<session_context>', '<hook_context>'];
/** The only thought of the turn that is made up when a file is handed over (writer). */
const BINARY_NOTICE = 'Binary content received. Proceeding with analysis.';
/** The reply that the program gives itself after a compression (writer). */
export const COMPRESSION_REPLY = 'Got it. Thanks for the additional context!';

/** Reads a message; null where its type is not known (it is counted then). */
export function readMessage(record: Json, out: Emitter, position: Position): Message | null {
  const kind = stringField(record, 'type') ?? '';
  const type = ownEntry(TYPES, kind);
  if (type === undefined) {
    out.unknown(kind === '' ? 'message/(no type)' : `message/${kind}`);
    return null;
  }
  const content = field(record, 'content');
  // One part may stand for a list of one.
  reportContent(asObject(content) === null ? content : [content], position, out);
  const parts = readParts(content, (name) => out.unknown(name));
  const calls = readCalls(record, parts);
  const results = readResults(record, parts, type);
  const text = joinTexts(parts.texts);
  const thinking = thinkingOf(record, parts);
  const onlyAnswers = type === 'user' && parts.responses.length > 0 && text === null && parts.kinds.length === 1;
  return {
    id: nameField(record, 'id'),
    type,
    kind,
    time: isoTime(field(record, 'timestamp')),
    text,
    thinking,
    model: nameField(record, 'model'),
    isMeta: isInjected(type, text, thinking),
    kinds: [
      ...new Set([
        ...parts.kinds,
        ...(calls.length > 0 ? ['tool_use'] : []),
        ...(thinking === null ? [] : ['thinking']),
      ]),
    ],
    calls,
    results,
    tokens: readTokens(record, out, position),
    isShown: !onlyAnswers && (text !== null || thinking !== null || parts.kinds.some((k) => k !== 'tool_use')),
  };
}

const isInjected = (type: Message['type'], text: string | null, thinking: string | null): boolean =>
  type === 'system' ||
  (type === 'user' && INJECTED.some((tag) => text?.trimStart().startsWith(tag) === true)) ||
  (type === 'assistant' && text === null && thinking?.trim() === BINARY_NOTICE);

function thinkingOf(record: Json, parts: Parts): string | null {
  if (parts.thoughts.length > 0) return joinTexts(parts.thoughts);
  return joinTexts(
    objectsField(record, 'thoughts').map((thought) =>
      joinTexts([stringField(thought, 'subject'), stringField(thought, 'description')]),
    ),
  );
}

function readCalls(record: Json, parts: Parts): Call[] {
  const calls: Call[] = [];
  const seen = new Set<string>();
  const add = (id: string | null, name: string | null, args: unknown, time: Time | null): void => {
    if (id !== null && seen.has(id)) return;
    if (id !== null) seen.add(id);
    calls.push({ id, name, kind: identifyTool(name, args), args: jsonText(args), time });
  };
  for (const call of objectsField(record, 'toolCalls'))
    add(nameField(call, 'id'), nameField(call, 'name'), field(call, 'args'), isoTime(field(call, 'timestamp')));
  for (const { id, name, args } of parts.calls) add(id, name, args, null);
  return calls;
}

/** The answer in a `result`: parts, of which one is the function response; other shapes are kept as JSON. */
function readResult(id: string | null, status: string | null, result: unknown, time: Time | null): Result {
  const answers = readParts(result, () => undefined).responses;
  const response = answers[0]?.response ?? null;
  const { output, output_json } = answerOf(response);
  const isPlain = answers.length === 0;
  return {
    id: id ?? answers[0]?.id ?? null,
    isError: isFailed(status, response),
    output: isPlain && typeof result === 'string' ? result : output,
    outputJson: isPlain && typeof result !== 'string' ? jsonText(result) : output_json,
    time,
  };
}

function readResults(record: Json, parts: Parts, type: Message['type']): Result[] {
  const results: Result[] = [];
  for (const call of objectsField(record, 'toolCalls')) {
    const result = field(call, 'result');
    if (result === undefined || result === null) continue;
    results.push(
      readResult(nameField(call, 'id'), stringField(call, 'status'), result, isoTime(field(call, 'timestamp'))),
    );
  }
  if (type === 'user') {
    for (const { id, response } of parts.responses) {
      const { output, output_json } = answerOf(response);
      results.push({ id, isError: isFailed(null, response), output, outputJson: output_json, time: null });
    }
  }
  return results;
}

/** The message with new content and new results of its calls, as a `$patch` gives them. */
export function patched(message: Message, update: Json, out: Emitter): Message {
  const results = new Map(message.results.map((result) => [result.id, result]));
  for (const call of objectsField(update, 'toolCalls')) {
    const id = nameField(call, 'id');
    const known = message.calls.find((other) => other.id === id);
    if (id === null || known === undefined) continue;
    const before = results.get(id);
    const now = readResult(id, null, field(call, 'result'), before?.time ?? null);
    // How a call ended stays as it was told: what replaces its output may say nothing about it.
    results.set(id, { ...now, isError: before?.isError ?? now.isError });
  }
  if (!Object.hasOwn(update, 'content')) return { ...message, results: [...results.values()] };
  const parts = readParts(field(update, 'content'), (name) => out.unknown(name));
  const text = joinTexts(parts.texts);
  const thinking = parts.thoughts.length > 0 ? joinTexts(parts.thoughts) : message.thinking;
  return { ...message, results: [...results.values()], text, thinking, isShown: text !== null || thinking !== null };
}

function readTokens(record: Json, out: Emitter, position: Position): Tokens | null {
  const tokens = objectField(record, 'tokens');
  if (tokens === null) return null;
  const reader = new CounterReader(out, position);
  const read = (key: keyof Tokens): number | null => reader.read(tokens, key);
  return {
    input: read('input'),
    output: read('output'),
    cached: read('cached'),
    thoughts: read('thoughts'),
    tool: read('tool'),
    total: read('total'),
  };
}

export interface Placing {
  readonly sessionId: string;
  /** Where the message stands in the conversation. */
  readonly position: Position;
  readonly isActive: boolean;
  readonly isMeta: boolean;
  /** Calls and results told before: they stand in several places. */
  readonly told: { readonly calls: Set<string>; readonly results: Set<string> };
}

export function tellMessage(message: Message, placing: Placing, out: Emitter): void {
  const { sessionId, position, told } = placing;
  const at = (slot: string, time: Time | null = null): ReturnType<typeof eventAt> =>
    eventAt(sessionId, message.id, slot, position, time === null || time.timestampText === null ? message.time : time);
  if (message.isShown) {
    out.message(
      at('message'),
      messageFields({
        role: message.type,
        record_id: message.id,
        kind: message.kind,
        model: message.type === 'assistant' ? message.model : null,
        text: message.text,
        thinking: message.thinking,
        is_meta: placing.isMeta,
        is_active: placing.isActive,
        content_kinds: [...message.kinds],
      }),
    );
  }
  message.calls.forEach((call, index) => {
    if (call.id !== null && told.calls.has(call.id)) return;
    if (call.id !== null) told.calls.add(call.id);
    out.toolCall(
      at(`call:${call.id ?? index}`, call.time),
      toolCallFields({ message_id: message.id, call_id: call.id, ...call.kind, arguments: call.args }),
    );
  });
  message.results.forEach((result, index) => {
    if (result.id !== null && told.results.has(result.id)) return;
    if (result.id !== null) told.results.add(result.id);
    out.toolResult(
      at(`result:${result.id ?? index}`, result.time),
      toolResultFields({
        call_id: result.id,
        is_error: result.isError,
        output: result.output,
        output_json: result.outputJson,
      }),
    );
  });
  if (message.tokens !== null) tellUsage(message, message.tokens, at('usage'), sessionId, out);
}

function tellUsage(
  message: Message,
  tokens: Tokens,
  at: ReturnType<typeof eventAt>,
  sessionId: string,
  out: Emitter,
): void {
  const { input, output, cached, thoughts, tool, total } = tokens;
  const sum = (input ?? 0) + (output ?? 0) + (thoughts ?? 0) + (tool ?? 0) + (cached ?? 0);
  // The writer's input holds what came from cache; a total that adds it once more proves a file where it does not.
  const isNet = cached !== null && cached > 0 && total === sum;
  out.usage(
    at,
    usageObservation({
      message_id: message.id,
      model: message.model,
      // Prompts made of tool results are counted apart from the input.
      input_tokens: input === null ? tool : input + (tool ?? 0),
      output_tokens: output,
      cache_read_tokens: cached,
      reasoning_tokens: thoughts,
      total_tokens: total,
      input_includes_cache_read: !isNet,
      input_includes_cache_write: false,
      output_includes_reasoning: false,
      basis: 'native',
      key: message.id === null ? null : `${sessionId} ${message.id}`,
    }),
  );
}

/** Strings in a list. */
export const idsField = (record: Json, key: string): string[] =>
  listField(record, key).filter((value): value is string => typeof value === 'string');

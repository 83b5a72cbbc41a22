/**
 * A task of a conversation, as protobuf `warp.multi_agent.v1.Task` (`task.proto`, `input_context.proto`). Only what is
 * named here is taken out: tasks hold data of the vendor's server too.
 */
import { bytesOf, lastBytes, numberOf, type ProtoField, readMessage, textOf } from '../dialects/protobuf.ts';
import { CALLS, RESULTS, SHELL_RESULT } from './tools.ts';

export interface TaskCall {
  readonly id: string | null;
  readonly name: string | null;
  readonly input: Readonly<Record<string, string>> | null;
}

export interface TaskResult {
  readonly callId: string | null;
  readonly isError: boolean | null;
  readonly output: string | null;
  readonly exitCode: number | null;
}

export interface TaskMessage {
  readonly id: string | null;
  readonly requestId: string | null;
  /** Seconds and nanoseconds since 1970; null where there is no time. */
  readonly time: readonly [seconds: number, nanos: number] | null;
  /** Name of what it is; null where that is not known. */
  readonly kind: string | null;
  readonly folder: string | null;
  readonly said: { readonly role: 'user' | 'assistant'; readonly text: string; readonly isMeta: boolean } | null;
  readonly thinking: string | null;
  readonly model: string | null;
  readonly call: TaskCall | null;
  readonly result: TaskResult | null;
  /** Members that are not known, by number. */
  readonly unknown: readonly string[];
}

export interface Task {
  readonly description: string | null;
  /** Of the task that started it; null for the root. */
  readonly parent: string | null;
  readonly messages: readonly TaskMessage[];
}

const TASK = { description: 2, dependencies: 3, messages: 5 } as const;
const MESSAGE = { id: 1, requestId: 13, timestamp: 14 } as const;
/** Members beside the kind: also what the server keeps there, citations, the task's id. */
const BESIDE = new Set<number>([MESSAGE.id, 7, 8, 11, MESSAGE.requestId, MESSAGE.timestamp]);

/** Kinds of messages by number. */
const KINDS: ReadonlyMap<number, string> = new Map([
  [2, 'user_query'],
  [3, 'agent_output'],
  [4, 'tool_call'],
  [5, 'tool_call_result'],
  [6, 'server_event'],
  [9, 'system_query'],
  [10, 'update_todos'],
  [15, 'agent_reasoning'],
  [16, 'summarization'],
  [17, 'code_review'],
  [19, 'web_search'],
  [20, 'web_fetch'],
  [21, 'debug_output'],
  [22, 'artifact_event'],
  [23, 'invoke_skill'],
  [24, 'messages_received_from_agents'],
  [25, 'model_used'],
  [26, 'events_from_agents'],
]);

/** The message in a member; empty where there is none. */
const below = (fields: readonly ProtoField[], ...numbers: readonly number[]): readonly ProtoField[] => {
  let at = fields;
  for (const number of numbers) {
    const bytes = lastBytes(at, number);
    if (bytes === null) return [];
    at = readMessage(bytes);
  }
  return at;
};

const has = (fields: readonly ProtoField[], number: number): boolean => fields.some((field) => field.number === number);

/** An empty text is the wire's way to say none. */
const nameOf = (fields: readonly ProtoField[], number: number): string | null => textOf(fields, number) || null;

/** Throws a record-scoped error where the bytes are no such message. */
export function readTask(bytes: Buffer): Task {
  const fields = readMessage(bytes);
  return {
    description: nameOf(fields, TASK.description),
    parent: nameOf(below(fields, TASK.dependencies), 1),
    messages: bytesOf(fields, TASK.messages).map(readTaskMessage),
  };
}

/** Id of the first message, without a look at the others. */
export function firstMessageId(bytes: Buffer): string | null {
  const [first] = bytesOf(readMessage(bytes), TASK.messages);
  return first === undefined ? null : nameOf(readMessage(first), MESSAGE.id);
}

function readTaskMessage(bytes: Buffer): TaskMessage {
  const fields = readMessage(bytes);
  const member = fields.find(({ number }) => KINDS.has(number));
  const body = member?.bytes === null || member === undefined ? [] : readMessage(member.bytes);
  const kind = member === undefined ? null : KINDS.get(member.number)!;
  const unknown = fields
    .filter(({ number }) => !BESIDE.has(number) && !KINDS.has(number))
    .map(({ number }) => `message/${number}`);
  return {
    id: nameOf(fields, MESSAGE.id),
    requestId: nameOf(fields, MESSAGE.requestId),
    time: timeOf(below(fields, MESSAGE.timestamp)),
    kind,
    folder: folderOf(kind, body),
    said: saidIn(kind, body),
    thinking: kind === 'agent_reasoning' ? nameOf(body, 1) : null,
    model: kind === 'model_used' ? nameOf(body, 1) : null,
    call: kind === 'tool_call' ? readCall(body, unknown) : null,
    result: kind === 'tool_call_result' ? readResult(body, unknown) : null,
    unknown,
  };
}

function timeOf(fields: readonly ProtoField[]): readonly [number, number] | null {
  const seconds = numberOf(fields, 1);
  return seconds === null ? null : [Number(seconds), Number(numberOf(fields, 2) ?? 0n)];
}

/** The folder in the context of a message, where its kind has one. */
function folderOf(kind: string | null, body: readonly ProtoField[]): string | null {
  if (kind !== 'user_query' && kind !== 'system_query' && kind !== 'tool_call_result') return null;
  return nameOf(below(body, kind === 'tool_call_result' ? 11 : 2, 1), 1);
}

function saidIn(kind: string | null, body: readonly ProtoField[]): TaskMessage['said'] {
  const said = (role: 'user' | 'assistant', text: string | null, isMeta = false): TaskMessage['said'] =>
    text === null || text.trim() === '' ? null : { role, text, isMeta };
  switch (kind) {
    case 'user_query':
      return said('user', textOf(body, 1));
    case 'invoke_skill':
      return said('user', textOf(below(body, 2), 1));
    case 'agent_output':
      return said('assistant', textOf(body, 1));
    case 'summarization':
      return said('assistant', textOf(below(body, 1), 1), true);
    case 'messages_received_from_agents': {
      const bodies = bytesOf(body, 1).map((bytes) => textOf(readMessage(bytes), 5));
      return said('user', bodies.filter((text) => text !== null && text !== '').join('\n'), true);
    }
    case 'system_query':
      // What the application shows as the user's prompt: a new project, or the address of one to clone.
      return (
        said('user', textOf(below(body, 5), 1)) ??
        said('user', textOf(below(body, 6), 1)) ??
        said('user', textOf(below(body, 1), 1), true)
      );
    default:
      return null;
  }
}

/** The member of a call or result that says which tool it is: all but the call's id and what stands beside it. */
const toolIn = (body: readonly ProtoField[], beside: ReadonlySet<number>): ProtoField | undefined =>
  body.find(({ number, bytes }) => !beside.has(number) && bytes !== null);

const CALL_BESIDE = new Set([1]);
const RESULT_BESIDE = new Set([1, 11]);

function readCall(body: readonly ProtoField[], unknown: string[]): TaskCall {
  const tool = toolIn(body, CALL_BESIDE);
  const name = tool === undefined ? null : (CALLS.get(tool.number) ?? null);
  if (tool !== undefined && name === null) unknown.push(`tool_call/${tool.number}`);
  const command = name === 'run_shell_command' ? nameOf(readMessage(tool!.bytes!), 1) : null;
  return { id: nameOf(body, 1), name, input: command === null ? null : { command } };
}

function readResult(body: readonly ProtoField[], unknown: string[]): TaskResult {
  const callId = nameOf(body, 1);
  const tool = toolIn(body, RESULT_BESIDE);
  const kind = tool === undefined ? undefined : RESULTS.get(tool.number);
  if (tool !== undefined && kind === undefined) unknown.push(`tool_call_result/${tool.number}`);
  if (tool === undefined || kind?.error === undefined) return { callId, isError: null, output: null, exitCode: null };
  const fields = kind.error === null && tool.number !== SHELL_RESULT ? [] : readMessage(tool.bytes!);
  if (tool.number === SHELL_RESULT) {
    // A command that fails is no failure of the tool.
    const finished = below(fields, 5);
    const exitCode = numberOf(finished, 2);
    return {
      callId,
      isError: kind.error !== null && has(fields, kind.error),
      output: nameOf(finished, 1),
      // Zero is not written; a negative number is, in 64 bits.
      exitCode: has(fields, 5) ? Number(BigInt.asIntN(32, exitCode ?? 0n)) : null,
    };
  }
  const isError = kind.error !== null && has(fields, kind.error);
  return { callId, isError, output: isError ? nameOf(below(fields, kind.error!), 1) : null, exitCode: null };
}

/** A conversation to what it says. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { utcTime } from '../dialects/clock.ts';
import { recordKey } from '../dialects/forks.ts';
import { objectOf, objectOrReport } from '../dialects/frames.ts';
import { dig, field, type Json, nameField, numberField, objectsField, parseOrUndefined } from '../dialects/json.ts';
import { eventAt, messageFields, NO_TIME, sessionFields, type Time, toolResultFields } from '../dialects/rows.ts';
import { tellCalls } from '../dialects/tell-tools.ts';
import type { TaskMessage } from './task.ts';

/** Models by request. */
export type Models = Readonly<Record<string, string>>;

const messageOf = (row: Json): TaskMessage => row as unknown as TaskMessage;

/** A frame of a message in a task, by its place. */
const isMessage = (frame: Frame): boolean => /^agent_tasks\/[^/]*\/messages\//.test(frame.locator ?? '');

export function readModels(frames: Iterable<Frame>): Models {
  const models: Record<string, string> = Object.create(null);
  for (const frame of frames) {
    const row = isMessage(frame) ? objectOf(frame) : null;
    if (row === null) continue;
    const { requestId, model } = messageOf(row);
    if (requestId !== null && model !== null) models[requestId] = model;
  }
  return models;
}

/** Titles that the application gives to copies. */
const COPY_TITLE = /^\((?:Fork|Pre-Rewind)\) /;

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext<Models>;
  private readonly told = new Set<string>();
  private facts: Json = {};
  private folder: string | null = null;
  private promptFolder: string | null = null;
  /** Of the first root with messages: what it is about, and what was asked first. */
  private root: { description: string | null; query: string | null } | null = null;
  private isInRoot = false;
  private hasCopies = false;

  constructor(context: DecodeContext<Models>, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = objectOrReport(frame, this.out);
    if (row === null) return;
    const position = frame.position();
    if (frame.locator?.startsWith('agent_conversations/')) {
      this.facts = row;
      if (field(row, 'isValid') === 0)
        this.out.badRecord(position, 'malformed_json', 'conversation_data does not parse as JSON');
    } else if (frame.locator?.startsWith('ai_queries/')) this.prompt(row, position);
    else if (isMessage(frame)) this.message(messageOf(row), position);
    else this.task(row);
  }

  private task(task: Json): void {
    this.isInRoot = this.root === null && nameField(task, 'parent') === null && (numberField(task, 'count') ?? 0) > 0;
    if (this.isInRoot) this.root = { description: nameField(task, 'description'), query: null };
  }

  private message(message: TaskMessage, position: Position): void {
    const { id, requestId, said, thinking, call, result } = message;
    for (const type of message.unknown) this.out.unknown(type);
    this.folder ??= message.folder;
    if (id !== null) {
      if (this.told.has(id)) return;
      this.told.add(id);
    }
    if (this.isInRoot && this.root !== null && message.kind === 'user_query') this.root.query ??= said?.text ?? null;
    const isCopy = id !== null && this.context.copies.has(recordKey(id));
    this.hasCopies ||= isCopy;
    const time = timeOf(message.time);
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    const role = said?.role ?? (thinking === null ? null : 'assistant');
    if (role !== null) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          is_copy: isCopy,
          record_id: id,
          kind: message.kind,
          model: role === 'assistant' && requestId !== null ? (this.context.outline?.[requestId] ?? null) : null,
          text: said?.text ?? null,
          thinking,
          is_meta: said?.isMeta ?? false,
          content_kinds: [...(said === null ? [] : ['text']), ...(thinking === null ? [] : ['thinking'])],
        }),
      );
    } else if (call === null && result === null && message.kind !== null) this.out.ignored(`message/${message.kind}`);
    if (call !== null) {
      const { input } = call;
      tellCalls([{ ...call, arguments: input === null ? null : JSON.stringify(input) }], { at, isCopy }, this.out);
    }
    if (result !== null) {
      this.out.toolResult(
        at(`result:${result.callId ?? 0}`),
        toolResultFields({
          is_copy: isCopy,
          call_id: result.callId,
          is_error: result.isError,
          output: result.output,
          output_json: result.exitCode === null ? null : JSON.stringify({ exit_code: result.exitCode }),
        }),
      );
    }
  }

  /** Of a conversation without tasks nothing but what was asked is there; steps in between have no input. */
  private prompt(row: Json, position: Position): void {
    this.promptFolder ??= nameField(row, 'folder');
    const input = field(row, 'input');
    const text = Array.isArray(input) ? dig(input[0], 'Query', 'text') : undefined;
    if (typeof text !== 'string' || text.trim() === '') return;
    const id = nameField(row, 'id');
    this.out.message(
      eventAt(this.context.source.name, id, 'message', position, utcTime(field(row, 'time'))),
      messageFields({ role: 'user', record_id: id, kind: 'query', text, content_kinds: ['text'] }),
    );
  }

  finish(): void {
    const parent = nameField(this.facts, 'parent');
    const title = nameField(this.facts, 'title') ?? this.root?.description ?? this.root?.query ?? null;
    const isFork = this.hasCopies || field(this.facts, 'isFork') === 1 || COPY_TITLE.test(title ?? '');
    const tokens = this.tokens();
    this.out.session(
      sessionFields({
        session_id: this.context.source.name,
        parent_session_id: parent,
        kind: parent !== null ? 'subagent' : isFork ? 'fork' : 'main',
        title,
        cwd: this.folder ?? nameField(this.facts, 'folder') ?? this.promptFolder,
        // Not split into input and output, and of a fork with its origin's tokens: no usage that could be summed.
        reported_total_tokens: tokens.length === 0 ? null : tokens.reduce((sum, { total }) => sum + total, 0),
        extra:
          tokens.length === 0
            ? null
            : {
                total_tokens_by_model: tokens.map(({ model, total }) => ({ model, total })),
                credits_spent: numberField(this.facts, 'credits'),
              },
      }),
    );
  }

  private tokens(): { readonly model: string | null; readonly total: number }[] {
    const text = nameField(this.facts, 'tokens');
    const list = text === null ? [] : objectsField({ list: parseOrUndefined(text) }, 'list');
    return list.flatMap((entry) => {
      const counts = [
        numberField(entry, 'warp_tokens') ?? numberField(entry, 'total_tokens'),
        numberField(entry, 'byok_tokens'),
        numberField(entry, 'custom_endpoint_tokens'),
      ].filter((count) => count !== null && Number.isSafeInteger(count) && count >= 0);
      if (counts.length === 0) return [];
      return [{ model: nameField(entry, 'model_id'), total: counts.reduce((sum, count) => sum! + count!, 0)! }];
    });
  }
}

function timeOf(time: TaskMessage['time']): Time {
  if (time === null) return NO_TIME;
  const [seconds, nanos] = time;
  const text = `${seconds}.${String(nanos).padStart(9, '0')}`;
  // Microseconds are kept: that is what the tables hold.
  return { timestamp: seconds * 1000 + Math.floor(nanos / 1000) / 1000, timestampText: text };
}

/** A session to what it says. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import {
  asObject,
  field,
  type Json,
  joinTexts,
  nameField,
  objectField,
  objectsField,
  ownEntry,
  stringField,
} from '../dialects/json.ts';
import { type ChatCall, readToolCalls } from '../dialects/openai.ts';
import { folderOf } from '../dialects/paths.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  sessionFields,
  toolCallFields,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { type ReplyUsage, readReplyUsage, readSessionUsage, type SessionUsage } from './usage.ts';

const PLACEHOLDERS = new Set(['New Session', 'Untitled Session']);
const ENDED: Readonly<Record<string, boolean | null>> = { done: false, errored: true, canceled: null };

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private head: Json | null = null;
  private headPosition: Position | null = null;
  private hasHistory = false;
  private readonly calls = new Set<string>();
  /** What is known of each call's answer: it stands in two places. */
  private readonly results = new Set<string>();
  private readonly toolItems: { callId: string | null; output: string | null; at: ReturnType<typeof eventAt> }[] = [];
  private readonly replies: { usage: ReplyUsage; at: ReturnType<typeof eventAt> }[] = [];

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  private get sessionId(): string {
    return this.context.source.name;
  }

  frame(frame: Frame): void {
    if (frame.locator === '') {
      this.head = asObject(frame.json());
      this.headPosition = frame.position();
      if (this.head === null) throw sourceError('foreign_schema', 'is no session: its top is no object');
      return;
    }
    this.hasHistory = true;
    const item = asObject(frame.json());
    const message = item === null ? null : objectField(item, 'message');
    if (item === null || message === null) {
      this.out.badRecord(frame.position(), 'wrong_type', 'the history item holds no message object');
      return;
    }
    reportContent(field(message, 'content'), frame.position(), this.out);
    this.item(item, message, frame.position());
  }

  finish(): void {
    const { head } = this;
    // A list that is there and empty is a session without messages; without the list it is another file.
    if (head === null || (!this.hasHistory && !this.isEmptySession(head))) {
      this.out.ignored('document without a history');
      return;
    }
    for (const { callId, output, at } of this.toolItems) this.result(callId, null, output, at);
    this.usage(head);
    this.session(head);
  }

  private isEmptySession(head: Json): boolean {
    return nameField(head, 'sessionId') !== null;
  }

  private item(item: Json, message: Json, position: Position): void {
    const role = stringField(message, 'role') ?? '';
    const at = (slot: string): ReturnType<typeof eventAt> =>
      eventAt(this.sessionId, nameField(message, 'id'), slot, position, NO_TIME);
    const text = textOf(field(message, 'content'));
    switch (role) {
      case 'user':
      case 'assistant':
        this.turn(item, message, role, text, at);
        break;
      case 'thinking':
        if (text !== null)
          this.out.message(
            at('message'),
            messageFields({
              role: 'assistant',
              record_id: nameField(message, 'id'),
              kind: role,
              thinking: text,
              content_kinds: ['thinking'],
            }),
          );
        break;
      case 'tool':
        this.toolItems.push({ callId: nameField(message, 'toolCallId'), output: text, at: at('result') });
        break;
      case 'system':
        this.out.ignored('message/system');
        break;
      default:
        this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
    }
    this.states(item, message, at);
    const usage = objectField(message, 'usage');
    if (role === 'assistant' && usage !== null)
      this.replies.push({ usage: readReplyUsage(usage, this.out, position), at: at('usage') });
  }

  private turn(
    item: Json,
    message: Json,
    role: 'user' | 'assistant',
    text: string | null,
    at: (slot: string) => ReturnType<typeof eventAt>,
  ): void {
    const reasoning = objectField(item, 'reasoning');
    const thinking = reasoning === null ? null : nameField(reasoning, 'text');
    const usage = objectField(message, 'usage');
    const summary = stringField(item, 'conversationSummary');
    const hasImage =
      Array.isArray(field(message, 'content')) &&
      objectsField(message, 'content').some((part) => stringField(part, 'type') === 'imageUrl');
    if (text === null && thinking === null && !hasImage) return;
    this.out.message(
      at('message'),
      messageFields({
        role,
        record_id: nameField(message, 'id'),
        kind: 'message',
        model: role === 'assistant' && usage !== null ? nameField(usage, 'model') : null,
        text,
        thinking,
        // The command replaces all that was said by its summary.
        is_meta: role === 'assistant' && summary !== null && summary !== '' && summary === text,
        content_kinds: [
          ...(text === null ? [] : ['text']),
          ...(thinking === null ? [] : ['thinking']),
          ...(hasImage ? ['image'] : []),
        ],
      }),
    );
  }

  private states(item: Json, message: Json, at: (slot: string) => ReturnType<typeof eventAt>): void {
    const states = objectsField(item, 'toolCallStates');
    const calls = readToolCalls(message, 'toolCalls');
    const known: readonly ChatCall[] =
      calls.length > 0
        ? calls
        : states.flatMap((state) => {
            const call = objectField(state, 'toolCall');
            return call === null || objectField(call, 'function') === null
              ? []
              : readToolCalls({ list: [call] }, 'list');
          });
    known.forEach((call, index) => {
      if (call.id !== null && this.calls.has(call.id)) return;
      if (call.id !== null) this.calls.add(call.id);
      this.out.toolCall(
        at(`call:${call.id ?? index}`),
        toolCallFields({
          message_id: nameField(message, 'id'),
          call_id: call.id,
          ...identifyTool(call.name, call.input),
          arguments: call.arguments,
        }),
      );
    });
    for (const state of states) {
      const status = stringField(state, 'status') ?? '';
      const output = objectsField(state, 'output');
      if (!Object.hasOwn(ENDED, status) || field(state, 'output') === undefined) continue;
      const callId = nameField(state, 'toolCallId');
      this.result(
        callId,
        ownEntry(ENDED, status)!,
        joinTexts(output.map((part) => stringField(part, 'content'))),
        at(`result:${callId ?? '?'}`),
      );
    }
  }

  private result(
    callId: string | null,
    isError: boolean | null,
    output: string | null,
    at: ReturnType<typeof eventAt>,
  ): void {
    if (callId !== null && this.results.has(callId)) return;
    if (callId !== null) this.results.add(callId);
    this.out.toolResult(at, toolResultFields({ call_id: callId, is_error: isError, output }));
  }

  /**
   * The session's own sums include requests that left no reply (compactions) and leave out replies that a fork copied:
   * where they differ from those of the replies, they are the truth. Never both.
   */
  private usage(head: Json): void {
    const usage = objectField(head, 'usage');
    const session = usage === null ? null : readSessionUsage(usage, this.out, this.headPosition!);
    const sum = (key: 'prompt' | 'completion'): number =>
      this.replies.reduce((n, { usage: reply }) => n + (reply[key] ?? 0), 0);
    const isNothing =
      session === null || (!session.prompt && !session.completion && !session.cached && !session.written);
    const agrees = session !== null && session.prompt === sum('prompt') && session.completion === sum('completion');
    if (this.replies.length > 0 && (usage === null || agrees)) {
      for (const { usage: reply, at } of this.replies)
        this.out.usage(at, usageObservation({ ...reply.observation, basis: 'native', key: null }));
    } else if (session !== null && !(isNothing && this.replies.length === 0)) this.sessionTotal(session);
  }

  private sessionTotal(session: SessionUsage): void {
    const convention = this.replies[0]?.usage.convention ?? null;
    const isOpenai = convention === 'openai';
    this.out.usage(
      eventAt(this.sessionId, 'session', 'usage', this.headPosition!, NO_TIME),
      usageObservation({
        input_tokens: session.prompt,
        output_tokens: session.completion,
        // Of OpenAI's convention the sums hold no cached part, which then stays inside the input.
        cache_read_tokens: isOpenai ? null : session.cached,
        cache_write_tokens: isOpenai ? null : session.written,
        input_includes_cache_read: convention === 'includes',
        input_includes_cache_write: convention === 'includes',
        output_includes_reasoning: true,
        reported_cost_usd: session.cost,
        basis: 'session_total',
        state: 'unknown',
        key: null,
      }),
    );
  }

  private session(head: Json): void {
    const title = nameField(head, 'title');
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        title: title === null || PLACEHOLDERS.has(title) ? null : title,
        cwd: folderOf(nameField(head, 'workspaceDirectory')),
        extra:
          nameField(head, 'chatModelTitle') === null ? null : { chat_model_title: nameField(head, 'chatModelTitle') },
      }),
    );
  }
}

/** Parts that are images add no text. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content === '' ? null : content;
  if (!Array.isArray(content)) return null;
  return joinTexts(content.map(asObject).map((part) => (part === null ? null : stringField(part, 'text'))));
}

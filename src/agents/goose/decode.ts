/** Records of a session, from rows or lines, to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { asObject, boolField, dig, field, type Json, nameField, stringField } from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  resumeCommand,
  sessionFields,
  type Time,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { type Content, readContent } from './content.ts';
import { type LedgerSums, tellAccumulated, tellLedgerRow } from './usage.ts';

/** Seconds; a greater number is milliseconds (the vendor's own rule). */
const SECONDS_BELOW = 10_000_000_000;

const timeOf = (value: unknown): Time =>
  epochTime(value, typeof value === 'number' && value > SECONDS_BELOW ? 'ms' : 's');

interface Message {
  readonly id: string | null;
  readonly role: string;
  readonly time: Time;
  readonly content: unknown;
  readonly metadata: Json | null;
  readonly isCopy: boolean;
  readonly position: Position;
}

class Conversation {
  private readonly out: Emitter;
  private readonly sessionId: string;
  /** Thinking of the reply before, while only answers of its tools followed. */
  private lastThinking: string | null = null;
  private lastId: string | null = null;

  constructor(sessionId: string, out: Emitter) {
    this.sessionId = sessionId;
    this.out = out;
  }

  tell(message: Message): void {
    const { role, metadata } = message;
    if (role !== 'user' && role !== 'assistant') {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    reportContent(message.content, message.position, this.out);
    const content = readContent(message.content, this.out);
    // A reply with several calls is stored once for each, its thinking repeated; only the first has its usage.
    const isRest =
      role === 'assistant' &&
      content.thinking !== null &&
      content.thinking === this.lastThinking &&
      dig(metadata, 'usage') === undefined;
    if (!isRest) this.tellText(message, role, content);
    this.tellTools(message, isRest ? this.lastId : message.id, content);
    if (role === 'assistant') {
      this.lastThinking = content.thinking;
      if (!isRest) this.lastId = message.id;
    } else if (content.text !== null) this.lastThinking = null;
  }

  private at({ id, position, time }: Message, slot: string): ReturnType<typeof eventAt> {
    return eventAt(this.sessionId, id, slot, position, time);
  }

  private tellText(message: Message, role: 'user' | 'assistant', content: Content): void {
    const kinds = content.kinds.filter((kind) => kind !== 'tool_result');
    if (
      content.text === null &&
      content.thinking === null &&
      !kinds.some((kind) => kind !== 'tool_use' && kind !== 'thinking')
    )
      return;
    const { metadata } = message;
    this.out.message(
      this.at(message, 'message'),
      messageFields({
        role,
        is_copy: message.isCopy,
        message_id: message.id,
        record_id: message.id,
        model: role === 'assistant' ? modelOf(metadata) : null,
        text: content.text,
        thinking: content.thinking,
        is_meta:
          metadata !== null &&
          (boolField(metadata, 'userVisible') === false || boolField(metadata, 'turnContext') === true),
        content_kinds: kinds,
      }),
    );
  }

  private tellTools(message: Message, messageId: string | null, content: Content): void {
    content.calls.forEach((call, index) => {
      this.out.toolCall(
        this.at(message, `call:${call.id ?? index}`),
        toolCallFields({
          is_copy: message.isCopy,
          message_id: messageId,
          call_id: call.id,
          ...identifyTool(call.name, call.input),
          arguments: call.arguments,
        }),
      );
    });
    content.results.forEach((result, index) => {
      this.out.toolResult(
        this.at(message, `result:${result.id ?? index}`),
        toolResultFields({
          is_copy: message.isCopy,
          call_id: result.id,
          is_error: result.isError,
          output: result.output,
          output_json: result.outputJson,
        }),
      );
    });
  }
}

function modelOf(metadata: Json | null): string | null {
  const inference = asObject(dig(metadata, 'inference'));
  return inference === null ? null : (nameField(inference, 'resolvedModel') ?? nameField(inference, 'requestedModel'));
}

/** Name, and folder, of a session. */
const tellSession = (sessionId: string, facts: Json, out: Emitter): void => {
  const parent = nameField(facts, 'parent_session_id');
  const type = nameField(facts, 'session_type');
  out.session(
    sessionFields({
      session_id: sessionId,
      parent_session_id: parent,
      kind: type === 'sub_agent' || parent !== null ? 'subagent' : 'main',
      origin: type,
      title: nameField(facts, 'name') ?? nameField(facts, 'description'),
      cwd: nameField(facts, 'working_dir'),
      resume_command: resumeCommand('goose session --resume --session-id', sessionId),
    }),
  );
};

export class DatabaseDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly conversation: Conversation;
  private readonly sums: LedgerSums = { rows: 0, input: 0, output: 0, cacheRead: null, cacheWrite: null };
  private session: { row: Json; position: Position } | null = null;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
    this.conversation = new Conversation(this.sessionId, out);
  }

  private get sessionId(): string {
    return this.context.source.name;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    if (row === null) return;
    const position = frame.position();
    if (frame.locator?.startsWith('sessions/')) this.session = { row, position };
    else if (frame.locator?.startsWith('usage_ledger/')) {
      const id = frame.locator.slice('usage_ledger/'.length);
      tellLedgerRow(
        { sessionId: this.sessionId, id, row, position, time: timeOf(row['created_timestamp']) },
        this.sums,
        this.out,
      );
    } else this.tellMessage(row, position);
  }

  private tellMessage(row: Json, position: Position): void {
    this.conversation.tell({
      id: nameField(row, 'messageId'),
      role: stringField(row, 'role') ?? '',
      time: timeOf(row['created']),
      content: field(row, 'content'),
      metadata: asObject(field(row, 'metadata')),
      isCopy: field(row, 'isCopy') === true,
      position,
    });
  }

  finish(): void {
    if (this.session === null) return;
    const { row, position } = this.session;
    tellAccumulated({ sessionId: this.sessionId, row, position }, this.sums, this.out);
    tellSession(this.sessionId, row, this.out);
  }
}

/** Line 1 is the session's metadata (in some files a message already); every other line a message. */
export class LegacyDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly sessionId: string;
  private readonly conversation: Conversation;
  private metadata: { row: Json; position: Position } | null = null;
  private hasMessages = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.out = out;
    this.sessionId = context.source.name;
    this.conversation = new Conversation(this.sessionId, out);
  }

  frame(frame: Frame): void {
    const row = objectOrReport(frame, this.out);
    if (row === null) return;
    const position = frame.position();
    if (stringField(row, 'role') === null) {
      if (this.metadata === null) this.metadata = { row, position };
      else this.out.unknown('(line without a role)');
      return;
    }
    this.hasMessages = true;
    this.conversation.tell({
      id: nameField(row, 'id'),
      role: stringField(row, 'role') ?? '',
      time: timeOf(row['created']),
      content: field(row, 'content'),
      metadata: asObject(field(row, 'metadata')),
      isCopy: false,
      position,
    });
  }

  finish(): void {
    if (this.metadata === null && !this.hasMessages) return;
    const row = this.metadata?.row ?? {};
    if (this.metadata !== null) {
      const sums: LedgerSums = { rows: 0, input: 0, output: 0, cacheRead: null, cacheWrite: null };
      tellAccumulated({ sessionId: this.sessionId, row, position: this.metadata.position }, sums, this.out);
    }
    tellSession(this.sessionId, row, this.out);
  }
}

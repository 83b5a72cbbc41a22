/** Messages of a session to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { readBlocks } from '../dialects/anthropic.ts';
import { epochTime, isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { CounterReader } from '../dialects/counters.ts';
import { isZeroed } from '../dialects/emitters.ts';
import { recordKey } from '../dialects/forks.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  boolField,
  field,
  type Json,
  joinTexts,
  listField,
  nameField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { readToolCalls } from '../dialects/openai.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  resumeCommand,
  sessionFields,
  type Time,
  usageObservation,
} from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';

const ROLES: ReadonlyMap<string, 'user' | 'assistant' | 'system' | 'tool'> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  // Of older versions.
  ['agent', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
]);

/** Seconds beyond this are milliseconds that stand in the wrong column. */
const MAX_SECONDS = 1e11;

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private session: Json = {};
  /** One message may stand at several nodes; those on the live chain come first. */
  private readonly told = new Set<string>();

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = objectOrReport(frame, this.out);
    if (row === null) return;
    if (frame.locator?.startsWith('sessions/')) this.session = row;
    else this.node(row, frame.position());
  }

  private node(row: Json, position: Position): void {
    const message = objectField(row, 'message');
    if (message === null) {
      this.out.badRecord(position, 'wrong_type', 'chat_message is no object');
      return;
    }
    const messageId = nameField(message, 'message_id');
    if (messageId !== null) {
      if (this.told.has(messageId)) return;
      this.told.add(messageId);
    }
    const role = ROLES.get(stringField(message, 'role') ?? '');
    if (role === undefined) {
      this.out.unknown(`message/${stringField(message, 'role') ?? '(no role)'}`);
      return;
    }
    const metadata = objectField(message, 'metadata') ?? {};
    const id = messageId ?? `node ${String(row['node'])}`;
    const isCopy = messageId !== null && this.context.copies.has(recordKey(messageId));
    const time = timeOf(metadata, field(row, 'created'));
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    reportContent(field(message, 'content'), position, this.out);
    if (role === 'tool') {
      const { text } = readBlocks(field(message, 'content'), (type) => this.out.unknown(type));
      tellResults(
        [{ callId: nameField(message, 'tool_call_id'), isError: null, output: text }],
        { at, isCopy },
        this.out,
      );
      return;
    }
    this.message(message, metadata, { role, messageId, id, isCopy, isActive: row['isActive'] === true, at });
    if (role === 'assistant') this.usage(metadata, messageId, isCopy, at, position);
  }

  private message(
    message: Json,
    metadata: Json,
    row: {
      readonly role: 'user' | 'assistant' | 'system';
      readonly messageId: string | null;
      readonly id: string;
      readonly isCopy: boolean;
      readonly isActive: boolean;
      readonly at: (slot: string) => EventAt;
    },
  ): void {
    const { role, messageId, isCopy, at } = row;
    const { text, thinking, calls, results, kinds } = readBlocks(field(message, 'content'), (type) =>
      this.out.unknown(type),
    );
    const apart = stringField(message, 'thinking');
    const thoughts = apart === thinking ? thinking : joinTexts([apart, thinking]);
    const shown = [...new Set([...kinds, ...(listField(message, 'images').length > 0 ? ['image'] : [])])];
    if (text !== null || thoughts !== null || shown.includes('image')) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          is_copy: isCopy,
          message_id: messageId,
          record_id: row.id,
          kind: 'message',
          model: role === 'assistant' ? nameField(metadata, 'generation_model') : null,
          text,
          thinking: thoughts,
          // Prompts that keep the cache warm, and reminders, are marked as nobody's.
          is_meta: role === 'system' || (role === 'user' && boolField(metadata, 'is_user_input') === false),
          is_active: row.isActive,
          content_kinds: shown,
        }),
      );
    }
    const listed = readToolCalls({ tool_calls: objectsField(message, 'tool_calls').map(withArguments) });
    const ids = new Set(listed.map((call) => call.id));
    const further = calls.filter((call) => call.id === null || !ids.has(call.id));
    tellCalls([...listed, ...further], { at, isCopy, messageId }, this.out);
    tellResults(results, { at, isCopy }, this.out);
  }

  private usage(
    metadata: Json,
    messageId: string | null,
    isCopy: boolean,
    at: (slot: string) => EventAt,
    position: Position,
  ): void {
    const metrics = objectField(metadata, 'metrics');
    if (metrics === null) return;
    const reader = new CounterReader(this.out, position);
    const requestId = nameField(metadata, 'request_id');
    const observation = usageObservation({
      message_id: messageId,
      request_id: requestId,
      model: nameField(metadata, 'generation_model'),
      input_tokens: reader.read(metrics, 'input_tokens'),
      output_tokens: reader.read(metrics, 'output_tokens'),
      cache_read_tokens: reader.read(metrics, 'cache_read_tokens'),
      cache_write_tokens: reader.read(metrics, 'cache_creation_tokens'),
      input_includes_cache_read: false,
      input_includes_cache_write: false,
      output_includes_reasoning: null,
      basis: 'native',
      key: requestId ?? messageId,
      native: !isCopy,
    });
    if (!isZeroed(observation)) this.out.usage(at('usage'), observation);
  }

  finish(): void {
    const { source } = this.context;
    const isHidden = field(this.session, 'hidden') === 1;
    const mode = nameField(this.session, 'agent_mode');
    this.out.session(
      sessionFields({
        session_id: source.name,
        title: nameField(this.session, 'title'),
        cwd: nameField(this.session, 'working_directory'),
        resume_command: resumeCommand('devin --resume', source.name),
        extra: isHidden || mode !== null ? { hidden: isHidden, agent_mode: mode } : null,
      }),
    );
  }
}

/** Calls in the model's own spelling hold an input. */
const withArguments = (call: Json): Json =>
  field(call, 'input') === undefined ? call : { ...call, arguments: field(call, 'input') };

/** The message's own time; rows have whole seconds. */
function timeOf(metadata: Json, created: unknown): Time {
  const own = isoTime(field(metadata, 'created_at'));
  if (own.timestamp !== null) return own;
  return typeof created === 'number' && created < MAX_SECONDS ? epochTime(created, 's') : NO_TIME;
}

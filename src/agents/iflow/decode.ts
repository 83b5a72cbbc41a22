/** Records of a transcript: one reply stands in several, each with a window of its calls. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, UsageObservation } from '../agent.ts';
import { type BlockResult, readBlocks } from '../dialects/anthropic.ts';
import { isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { CounterReader } from '../dialects/counters.ts';
import { isZeroed } from '../dialects/emitters.ts';
import { answerOf, isFailed } from '../dialects/gemini-parts.ts';
import { asObject, boolField, dig, field, type Json, nameField, objectField, stringField } from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  sessionFields,
  toolCallFields,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';

const INJECTED = [
  '<task-notification>',
  '<local-command-',
  'Stop hook feedback:',
  '[Request interrupted',
  'This session is being continued',
];

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly calls = new Set<string>();
  private readonly results = new Set<string>();
  private recordedId: string | null = null;
  private cwd: string | null = null;
  private gitBranch: string | null = null;
  private version: string | null = null;
  private hasRecords = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  /** A record may carry the id of the session that it goes on from: the file's name is its own. */
  private get sessionId(): string {
    return this.context.source.name;
  }

  frame(frame: Frame): void {
    const record = asObject(frame.json());
    const type = record === null ? null : stringField(record, 'type');
    const message = record === null ? null : objectField(record, 'message');
    if (record === null || (type !== 'user' && type !== 'assistant')) {
      this.out.unknown(type ?? '(no type)');
      return;
    }
    this.hasRecords = true;
    this.recordedId ??= nameField(record, 'sessionId');
    this.cwd ??= nameField(record, 'cwd');
    this.gitBranch ??= nameField(record, 'gitBranch');
    this.version ??= nameField(record, 'version');
    if (message === null) this.out.badRecord(frame.position(), 'wrong_type', 'the record holds no message object');
    else this.tell(record, message, type, frame.position());
  }

  finish(): void {
    if (!this.hasRecords) return;
    const isOther = this.recordedId !== null && this.recordedId !== this.sessionId;
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: isOther ? this.recordedId : null,
        kind: isOther ? 'subagent' : 'main',
        cwd: this.cwd,
        git_branch: this.gitBranch,
        agent_version: this.version,
      }),
    );
  }

  private tell(record: Json, message: Json, role: 'user' | 'assistant', position: Position): void {
    const { out } = this;
    const uuid = nameField(record, 'uuid');
    const time = isoTime(field(record, 'timestamp'));
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, uuid, slot, position, time);
    reportContent(field(message, 'content'), position, out);
    const blocks = readBlocks(field(message, 'content'), (type) => out.unknown(type));
    const messageId = nameField(message, 'id');
    const model = role === 'assistant' ? nameField(message, 'model') : null;
    const kinds = blocks.kinds.filter((kind) => kind !== 'tool_result');
    if (blocks.text !== null || blocks.thinking !== null || kinds.includes('image')) {
      out.message(
        at('message'),
        messageFields({
          role,
          message_id: messageId,
          record_id: uuid,
          parent_record_id: nameField(record, 'parentUuid'),
          model,
          text: blocks.text,
          thinking: blocks.thinking,
          is_meta: role === 'user' && isInjected(record, blocks.text ?? ''),
          content_kinds: kinds,
        }),
      );
    }
    blocks.calls.forEach((call, index) => {
      if (call.id !== null && this.calls.has(call.id)) return;
      if (call.id !== null) this.calls.add(call.id);
      out.toolCall(
        at(`call:${call.id ?? index}`),
        toolCallFields({
          message_id: messageId,
          call_id: call.id,
          ...identifyTool(call.name, call.input),
          arguments: call.arguments,
        }),
      );
    });
    blocks.results.forEach((result, index) => {
      if (result.callId !== null && this.results.has(result.callId)) return;
      if (result.callId !== null) this.results.add(result.callId);
      this.result(record, result, at(`result:${result.callId ?? index}`));
    });
    if (role === 'assistant') this.usage(message, messageId, model, position, at('usage'));
  }

  /** The content of an answer is an object in the form of the Gemini API, or text. */
  private result(record: Json, result: BlockResult, at: ReturnType<typeof eventAt>): void {
    const response = asObject(dig(field(result.block, 'content'), 'responseParts', 'functionResponse', 'response'));
    const status = dig(record, 'toolUseResult', 'status');
    const answer = answerOf(response);
    this.out.toolResult(
      at,
      toolResultFields({
        call_id: result.callId,
        is_error: result.isError ?? isFailed(null, response) ?? (status === 'success' ? false : null),
        output: answer.output ?? result.output,
        output_json: answer.output_json,
      }),
    );
  }

  /** Counters of zeros stand in nearly every record: nothing is recorded then. */
  private usage(
    message: Json,
    messageId: string | null,
    model: string | null,
    position: Position,
    at: ReturnType<typeof eventAt>,
  ): void {
    const usage = objectField(message, 'usage');
    if (usage === null) return;
    const reader = new CounterReader(this.out, position);
    const observation: UsageObservation = usageObservation({
      message_id: messageId,
      model,
      input_tokens: reader.read(usage, 'input_tokens'),
      output_tokens: reader.read(usage, 'output_tokens'),
      cache_read_tokens: reader.read(usage, 'cache_read_input_tokens'),
      cache_write_tokens: reader.read(usage, 'cache_creation_input_tokens'),
      input_includes_cache_read: false,
      input_includes_cache_write: false,
      output_includes_reasoning: true,
      basis: 'native',
      key: messageId,
    });
    if (!isZeroed(observation)) this.out.usage(at, observation);
  }
}

const isInjected = (record: Json, text: string): boolean =>
  boolField(record, 'isMeta') === true ||
  boolField(record, 'isCompactSummary') === true ||
  INJECTED.some((start) => text.startsWith(start));

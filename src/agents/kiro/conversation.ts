/** A conversation of a database: pairs of what the user and the assistant said. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime, isoTime } from '../dialects/clock.ts';
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
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  sessionFields,
  type Time,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    const value = row === null ? null : objectField(row, 'value');
    if (row === null || value === null || !Array.isArray(field(value, 'history')))
      throw sourceError('foreign_schema', 'holds a conversation without a history');
    const sessionId = nameField(value, 'conversation_id') ?? this.context.source.name;
    listField(value, 'history').forEach((item, index) => {
      const position = { ...frame.position(), ordinal: index, locator: `${frame.locator}/history/${index}` };
      const entry = asObject(item);
      if (entry === null) this.out.badRecord(position, 'wrong_type', 'the entry of the history is no object');
      else this.entry(entry, sessionId, position);
    });
    this.out.session(
      sessionFields({
        session_id: sessionId,
        origin: 'cli',
        cwd: nameField(row, 'folder'),
        resume_command: frame.locator!.startsWith('conversations/') ? 'q chat --resume' : null,
      }),
    );
  }

  finish(): void {}

  private entry(entry: Json, sessionId: string, position: Position): void {
    const metadata = objectField(entry, 'request_metadata');
    const user = objectField(entry, 'user');
    const assistant = objectField(entry, 'assistant');
    if (user !== null) this.user(user, sessionId, position);
    if (assistant !== null) {
      const time = epochTime(metadata === null ? null : field(metadata, 'stream_end_timestamp_ms'), 'ms');
      this.assistant(assistant, metadata === null ? null : nameField(metadata, 'model_id'), time, sessionId, position);
    }
  }

  private user(user: Json, sessionId: string, position: Position): void {
    const content = objectField(user, 'content') ?? {};
    const [kind = '(empty)', value] = Object.entries(content)[0] ?? [];
    const body = asObject(value);
    const time = isoTime(field(user, 'timestamp'));
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(sessionId, null, slot, position, time);
    if (body === null || !['Prompt', 'ToolUseResults', 'CancelledToolUses'].includes(kind)) {
      this.out.unknown(`user/${kind}`);
      return;
    }
    const prompt = nameField(body, 'prompt');
    if (prompt !== null)
      this.out.message(at('user'), messageFields({ role: 'user', text: prompt, content_kinds: ['text'] }));
    objectsField(body, 'tool_use_results').forEach((result, index) => {
      const callId = nameField(result, 'tool_use_id');
      const status = stringField(result, 'status');
      const items = objectsField(result, 'content');
      const json = items.map((item) => field(item, 'Json')).filter((item) => item !== undefined);
      this.out.toolResult(
        at(`result:${callId ?? index}`),
        toolResultFields({
          call_id: callId,
          is_error: status === null ? null : status !== 'Success',
          output: joinTexts(items.map((item) => stringField(item, 'Text'))),
          output_json: json.length === 0 ? null : jsonText(json.length === 1 ? json[0] : json),
        }),
      );
    });
  }

  private assistant(assistant: Json, model: string | null, time: Time, sessionId: string, position: Position): void {
    const [kind = '(empty)', value] = Object.entries(assistant)[0] ?? [];
    const body = asObject(value);
    if (body === null || (kind !== 'Response' && kind !== 'ToolUse')) {
      this.out.unknown(`assistant/${kind}`);
      return;
    }
    const id = nameField(body, 'message_id');
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(sessionId, id, slot, position, time);
    const text = nameField(body, 'content');
    if (text !== null)
      this.out.message(
        at('assistant'),
        messageFields({ role: 'assistant', message_id: id, record_id: id, model, text, content_kinds: ['text'] }),
      );
    objectsField(body, 'tool_uses').forEach((call, index) => {
      const callId = nameField(call, 'id');
      const input = field(call, 'args');
      this.out.toolCall(
        at(`call:${callId ?? index}`),
        toolCallFields({
          message_id: id,
          call_id: callId,
          ...identifyTool(nameField(call, 'name'), input),
          arguments: jsonText(input),
        }),
      );
    });
  }
}

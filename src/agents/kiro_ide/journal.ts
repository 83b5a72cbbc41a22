/** The journal of a session (2026). Credits are recorded, which are no tokens. */
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  asObject,
  boolField,
  field,
  type Json,
  jsonText,
  listField,
  nameField,
  objectField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, toolCallFields, toolResultFields } from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { contentText } from './content.ts';

const SILENT = new Set(['turn_start', 'turn_end', 'session_metadata', 'usage_summary']);

export class JournalDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly facts: Json;
  private readonly sessionId: string;
  private hasRecords: boolean;

  constructor(context: DecodeContext, out: Emitter) {
    this.out = out;
    this.facts = factsOf(context, out);
    this.sessionId = nameField(this.facts, 'id') ?? context.source.name;
    this.hasRecords = context.resume === true;
  }

  save(): boolean {
    return this.hasRecords;
  }

  frame(frame: Frame): void {
    const line = objectOrReport(frame, this.out);
    if (line === null) return;
    const payload = objectField(line, 'payload');
    if (payload === null) {
      this.out.badRecord(frame.position(), 'wrong_type', 'the line holds no payload object');
      return;
    }
    this.hasRecords = true;
    const type = stringField(payload, 'type') ?? '(no type)';
    const id = nameField(line, 'id');
    const time = isoTime(field(line, 'timestamp'));
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, id, slot, frame.position(), time);
    if (type === 'user' || type === 'assistant') this.message(type, payload, id, at);
    else if (type === 'tool_call') {
      const callId = nameField(payload, 'toolCallId');
      this.out.toolCall(
        at('call'),
        toolCallFields({
          message_id: id,
          call_id: callId,
          // Where arguments stand, if they do, is not known.
          ...identifyTool(nameField(payload, 'toolName'), undefined),
        }),
      );
    } else if (type === 'tool_result') {
      const success = boolField(payload, 'success');
      const content = field(payload, 'content');
      this.out.toolResult(
        at('result'),
        toolResultFields({
          call_id: nameField(payload, 'toolCallId'),
          is_error: success === null ? null : !success,
          output: typeof content === 'string' ? content || null : contentText(content),
          output_json: typeof content === 'string' ? null : jsonText(content),
        }),
      );
    } else if (SILENT.has(type)) this.out.ignored(type);
    else this.out.unknown(type);
  }

  finish(): void {
    if (!this.hasRecords) return;
    const [cwd] = listField(this.facts, 'workspacePaths');
    const model = nameField(this.facts, 'modelId');
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        origin: 'ide',
        title: nameField(this.facts, 'title'),
        cwd: typeof cwd === 'string' && cwd.trim() !== '' ? cwd : null,
        // What is set for the session, which replies need not have been made with.
        extra: model === null ? null : { model },
      }),
    );
  }

  private message(
    role: 'user' | 'assistant',
    payload: Json,
    id: string | null,
    at: (slot: string) => ReturnType<typeof eventAt>,
  ): void {
    const content = field(payload, 'content');
    reportContent(content, at('message').position, this.out);
    const said = typeof content === 'string' ? (content.trim() === '' ? null : content) : contentText(content);
    if (said === null) return;
    const kind = nameField(payload, 'operationType');
    const isThought = role === 'assistant' && kind === 'Reasoning';
    this.out.message(
      at('message'),
      messageFields({
        role,
        message_id: id,
        record_id: id,
        kind,
        text: isThought ? null : said,
        thinking: isThought ? said : null,
        content_kinds: [
          isThought ? 'thinking' : 'text',
          ...(listField(payload, 'images').length === 0 ? [] : ['image']),
        ],
      }),
    );
  }
}

function factsOf(context: DecodeContext, out: Emitter): Json {
  const bytes = context.sidecars['session'];
  const facts = bytes === undefined ? {} : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (facts === null)
    out.issue('warning', 'malformed_json', 'session.json does not parse as an object; title and folder are not told');
  return facts ?? {};
}

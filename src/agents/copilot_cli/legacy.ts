/** Sessions of the first versions: one document, or one event that imported it. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { asObject, field, type Json, nameField, objectsField, stringField } from '../dialects/json.ts';
import { readChatContent, readToolCalls } from '../dialects/openai.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, toolResultFields } from '../dialects/rows.ts';
import { tellCalls } from '../dialects/tell-tools.ts';

interface ChatPlace {
  readonly sessionId: string;
  readonly position: Position;
  readonly nativeId: string | null;
}

/** Messages in OpenAI's form, without times. */
export function tellChat(session: Json, { sessionId, position, nativeId }: ChatPlace, out: Emitter): void {
  objectsField(session, 'chatMessages').forEach((message, index) => {
    const role = stringField(message, 'role') ?? '';
    const at = (slot: string): ReturnType<typeof eventAt> =>
      eventAt(sessionId, nativeId === null ? null : `${nativeId}/${index}`, slot, {
        ...position,
        ordinal: nativeId === null ? index : position.ordinal,
      });
    reportContent(field(message, 'content'), position, out);
    const { text, kinds } = readChatContent(field(message, 'content'), (type) => out.unknown(type));
    if (role === 'tool') {
      out.toolResult(at('result'), toolResultFields({ call_id: nameField(message, 'tool_call_id'), output: text }));
      return;
    }
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      out.unknown(`chatMessages/${role === '' ? '(no role)' : role}`);
      return;
    }
    if (text !== null)
      out.message(at('message'), messageFields({ role, text, is_meta: role === 'system', content_kinds: [...kinds] }));
    tellCalls(readToolCalls(message), { at }, out);
  });
}

export class LegacyDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const session = asObject(frame.json());
    if (session === null || !Array.isArray(field(session, 'chatMessages')))
      throw sourceError('foreign_schema', 'is no session: it has no list of chat messages');
    const sessionId = nameField(session, 'sessionId') ?? this.context.source.name;
    tellChat(session, { sessionId, position: frame.position(), nativeId: null }, this.out);
    this.out.session(
      sessionFields({ session_id: sessionId, resume_command: resumeCommand('copilot --resume', sessionId) }),
    );
  }

  finish(): void {}
}

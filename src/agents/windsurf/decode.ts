/** A session of the chat panel to what it says. No tokens are recorded: credits are counted by the vendor's server. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { readResponse } from '../copilot/response.ts';
import { epochTime } from '../dialects/clock.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { asObject, dig, field, type Json, listField, nameField } from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  sessionFields,
  textHint,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { bubbleText } from './storage.ts';

const ASSISTANT: ReadonlySet<unknown> = new Set(['ai', 'assistant', 2]);

export class PanelDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const session = objectOrReport(frame, this.out);
    if (session === null) return;
    const isChat = listField(session, 'requests').length > 0;
    const list = isChat ? 'requests' : 'bubbles';
    listField(session, list).forEach((entry, index) => {
      const position: Position = {
        ordinal: index,
        byteStart: null,
        byteEnd: null,
        locator: `${frame.locator}/${list}/${index}`,
      };
      const object = asObject(entry);
      if (object === null) this.out.badRecord(position, 'wrong_type', `an entry of ${list} is no object`);
      else if (isChat) this.request(object, position);
      else this.bubble(object, position);
    });
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        origin: 'ide',
        title: nameField(session, isChat ? 'customTitle' : 'chatTitle'),
        cwd: textHint(this.context.source, 'cwd'),
      }),
    );
  }

  finish(): void {}

  private get sessionId(): string {
    return this.context.source.name;
  }

  private bubble(bubble: Json, position: Position): void {
    const text = bubbleText(bubble);
    if (text === null) return;
    this.out.message(
      eventAt(this.sessionId, null, 'message', position),
      messageFields({
        role: ASSISTANT.has(field(bubble, 'type')) ? 'assistant' : 'user',
        text,
        content_kinds: ['text'],
      }),
    );
  }

  private request(request: Json, position: Position): void {
    const { out } = this;
    const id = nameField(request, 'requestId');
    const at = (slot: string, time = NO_TIME): ReturnType<typeof eventAt> =>
      eventAt(this.sessionId, id, slot, position, time);
    const message = field(request, 'message');
    const prompt = typeof message === 'string' ? message : dig(message, 'text');
    if (typeof prompt === 'string' && prompt.trim() !== '') {
      out.message(
        at('message', epochTime(field(request, 'timestamp'), 'ms')),
        messageFields({ role: 'user', message_id: id, record_id: id, text: prompt, content_kinds: ['text'] }),
      );
    }
    const { text, thinking, invocations } = readResponse(field(request, 'response'), (type) => out.unknown(type));
    if (text !== null || thinking !== null) {
      out.message(
        at('reply'),
        messageFields({
          role: 'assistant',
          parent_record_id: id,
          text,
          thinking,
          content_kinds: [
            ...(text === null ? [] : ['text']),
            ...(thinking === null ? [] : ['thinking']),
            ...(invocations.length === 0 ? [] : ['tool_use']),
          ],
        }),
      );
    }
    invocations.forEach((call, index) => {
      const slot = call.callId ?? String(index);
      out.toolCall(
        at(`call:${slot}`),
        toolCallFields({
          call_id: call.callId,
          ...identifyTool(call.name, undefined),
          arguments: call.arguments,
        }),
      );
      if (call.isComplete)
        out.toolResult(at(`result:${slot}`), toolResultFields({ call_id: call.callId, is_error: call.isError }));
    });
  }
}

/** A chat to what it says. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { readBlocks } from '../dialects/anthropic.ts';
import { localTime } from '../dialects/clock.ts';
import { asObject, dig, field, type Json, nameField, objectsField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, textHint } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';

export class ChatDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const value = frame.json();
    if (frame.locator === '') {
      if (asObject(dig(value, 'agent', 'memory')) === null)
        throw sourceError('foreign_schema', "is no chat: it holds no agent's memory");
      return;
    }
    // A message with its marks (compressed …), or a bare one of old.
    const message = asObject(Array.isArray(value) ? value[0] : value);
    if (message === null) this.out.badRecord(frame.position(), 'wrong_type', 'the item holds no message');
    else this.message(message, frame.position());
  }

  finish(): void {
    const { source } = this.context;
    this.out.session(sessionFields({ session_id: source.name, title: textHint(source, 'title') }));
  }

  private message(message: Json, position: Position): void {
    const id = nameField(message, 'id');
    const time = localTime(field(message, 'timestamp'));
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    const role = stringField(message, 'role') ?? '';
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    const { text, thinking, calls, results, kinds } = readBlocks(this.content(message), (type) =>
      this.out.unknown(type),
    );
    const said = text?.trim() ? text : null;
    // Answers of tools are rows of the system; alone they are no message.
    if (said !== null || thinking !== null) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          record_id: id,
          author: nameField(message, 'name'),
          kind: 'message',
          text: said,
          thinking,
          is_meta: role === 'system',
          content_kinds: [...kinds],
        }),
      );
    }
    tellCalls(calls, { at }, this.out);
    tellResults(results, { at }, this.out);
  }

  /** Blocks as the dialect has them: arguments as they came stand beside their parsed form, answers name their call `id`. */
  private content(message: Json): unknown {
    const content = field(message, 'content');
    if (!Array.isArray(content)) return content;
    return objectsField(message, 'content').map((block) => {
      const type = stringField(block, 'type');
      if (type === 'tool_result') return { ...block, tool_use_id: field(block, 'id'), content: field(block, 'output') };
      const raw = type === 'tool_use' ? stringField(block, 'raw_input') : null;
      return raw === null || raw.trim() === '' ? block : { ...block, input: raw };
    });
  }
}

/** Messages of the program's first version: parts as a model is sent them. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  asObject,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectsField,
  ownEntry,
  stringField,
} from '../dialects/json.ts';
import { eventAt, messageFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { sessionOf } from './session.ts';

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  reasoning: 'thinking',
  image: 'image',
  file: 'file',
  'tool-call': 'tool_use',
  'tool-result': 'tool_result',
};

export class LegacyDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    if (frame.locator === '') {
      if (asObject(frame.json()) === null) throw sourceError('foreign_schema', 'is no chat: its top is no object');
      return;
    }
    const message = objectOrReport(frame, this.out);
    if (message !== null) this.message(message, frame.position());
  }

  finish(): void {
    this.out.session(sessionOf(this.context));
  }

  private message(message: Json, position: Position): void {
    const at = (slot: string): EventAt => eventAt(this.context.source.name, null, slot, position);
    const role = stringField(message, 'role') ?? '';
    if (!['assistant', 'system', 'tool', 'user'].includes(role)) {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    if (role === 'system') {
      this.out.ignored('message/system');
      return;
    }
    const parts = this.parts(field(message, 'content'));
    const texts = (type: string): string | null =>
      joinTexts(parts.filter((part) => stringField(part, 'type') === type).map((part) => stringField(part, 'text')));
    const text = texts('text');
    const thinking = texts('reasoning');
    const kinds = [
      ...new Set(parts.map((part) => KINDS[stringField(part, 'type') ?? '']).filter((k) => k !== undefined)),
    ];
    if (role !== 'tool' && (text !== null || thinking !== null)) {
      this.out.message(
        at('message'),
        messageFields({
          role: role === 'user' ? 'user' : 'assistant',
          kind: 'message',
          text,
          thinking,
          content_kinds: kinds,
        }),
      );
    }
    const ofType = (type: string): Json[] => parts.filter((part) => stringField(part, 'type') === type);
    tellCalls(
      ofType('tool-call').map((part) => ({
        id: nameField(part, 'toolCallId'),
        name: nameField(part, 'toolName'),
        input: field(part, 'input'),
        arguments: jsonText(field(part, 'input')),
      })),
      { at },
      this.out,
    );
    tellResults(
      ofType('tool-result').map((part) => ({
        callId: nameField(part, 'toolCallId'),
        isError: null,
        output: outputOf(part),
      })),
      { at },
      this.out,
    );
  }

  /** A text, a list of parts, or (of tools) one part. */
  private parts(content: unknown): Json[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    const parts = (Array.isArray(content) ? content : [content]).map(asObject).filter((part) => part !== null);
    for (const part of parts) {
      const type = stringField(part, 'type') ?? '(no type)';
      if (ownEntry(KINDS, type) === undefined) this.out.unknown(`content/${type}`);
    }
    return parts;
  }
}

const outputOf = (part: Json): string | null =>
  joinTexts(objectsField(part, 'output').map((output) => jsonText(field(output, 'value'))));

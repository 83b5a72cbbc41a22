/** Entries of a chat to messages: their kind says who spoke, their role does not. */

import { pointer } from '../../framing/document-frames.ts';
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { asObject, dig, field, type Json, nameField, objectField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields } from '../dialects/rows.ts';

const SCHEMA = 1;

export class ReplicaDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly sessionId: string;

  constructor({ source }: DecodeContext, out: Emitter) {
    this.out = out;
    this.sessionId = source.name;
  }

  frame(frame: Frame): void {
    const document = asObject(frame.json());
    const version = document === null ? undefined : field(document, 'schemaVersion');
    if (version !== SCHEMA)
      throw sourceError(
        'foreign_schema',
        `is no transcript of schema ${SCHEMA}: ${typeof version === 'number' ? `it is of schema ${version}` : 'no schema is named'}`,
      );
    const entries = dig(document, 'value', 'entries');
    if (!Array.isArray(entries)) throw sourceError('foreign_schema', 'is no transcript: there is no list of entries');
    entries.forEach((value: unknown, index) => {
      const locator = pointer('value', 'entries', index);
      const position: Position = { ordinal: index, byteStart: null, byteEnd: null, locator };
      const entry = asObject(value);
      if (entry === null) this.out.badRecord(position, 'wrong_type', 'the entry is no object');
      else this.entry(entry, position);
    });
  }

  finish(): void {
    // Entries before the window are on no disk.
    this.out.session(sessionFields({ session_id: this.sessionId, extra: { is_partial: true } }));
  }

  private entry(entry: Json, position: Position): void {
    const kind = stringField(entry, 'kind') ?? '(no kind)';
    const role = stringField(entry, 'role');
    const said = kind === 'send-message' ? dig(entry, 'message', 'content') : field(entry, 'content');
    // Cards are objects; what is said is a text.
    if (kind === 'message' || dig(entry, 'message', 'type') === 'text') reportContent(said, position, this.out);
    if (kind === 'message' && (role === 'user' || role === 'assistant')) {
      // Another bot may have sent it: then nobody typed it.
      const sender = role === 'user' ? objectField(entry, 'fromAgent') : null;
      this.tell(entry, position, role, stringField(entry, 'content'), sender);
    } else if (kind === 'send-message') {
      const message = objectField(entry, 'message') ?? {};
      const type = stringField(message, 'type') ?? '(no type)';
      if (type === 'text') this.tell(entry, position, 'assistant', stringField(message, 'content'), null);
      else this.out.ignored(`send-message/${type}`);
    } else if (kind === 'event' || kind === 'user-attachment') this.out.ignored(kind);
    else this.out.unknown(kind === 'message' ? `message/${role ?? '(no role)'}` : kind);
  }

  private tell(
    entry: Json,
    position: Position,
    role: 'assistant' | 'user',
    text: string | null,
    sender: Json | null,
  ): void {
    if (text === null || text.trim() === '') return;
    const id = nameField(entry, 'id');
    const time = epochTime(field(entry, 'timestampMs'), 'ms');
    this.out.message(
      eventAt(this.sessionId, id, 'message', position, time),
      messageFields({
        role,
        message_id: id,
        record_id: id,
        author: sender === null ? null : nameField(sender, 'name'),
        kind: stringField(entry, 'kind'),
        text,
        is_meta: sender !== null,
        content_kinds: ['text'],
      }),
    );
  }
}

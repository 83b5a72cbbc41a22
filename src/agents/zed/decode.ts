/** A thread to what it says. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { asObject, boolField, dig, field, type Json, listField, nameField, objectField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { type Message, readMessage } from './message.ts';
import { usageOf } from './usage.ts';

export class ThreadDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    const document = row === null ? null : objectField(row, 'document');
    const position = frame.position();
    if (row === null || document === null || !Array.isArray(field(document, 'messages'))) {
      this.out.badRecord(position, 'wrong_type', 'the document holds no list of messages');
      return;
    }
    listField(document, 'messages').forEach((value, index) => {
      const place = { ...position, ordinal: index, locator: `${position.locator}/messages/${index}` };
      const message = readMessage(value, this.out);
      if (message === undefined) this.out.badRecord(place, 'wrong_type', 'the entry is no message');
      else if (message !== null) this.message(message, place);
    });
    const id = this.context.source.name;
    const usage = usageOf(document, id, position, this.out);
    // Messages have no times: the sum stood so when the thread was saved.
    if (usage !== null)
      this.out.usage(eventAt(id, 'thread', 'usage', position, isoTime(field(row, 'updated_at'))), usage);
    this.session(row, document);
  }

  finish(): void {}

  private message(message: Message, position: Position): void {
    const { id, role, text, thinking, calls, results, kinds } = message;
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position);
    if (text !== null || thinking !== null || kinds.includes('image') || kinds.includes('mention')) {
      this.out.message(
        at('message'),
        messageFields({ role, message_id: id, record_id: id, kind: 'message', text, thinking, content_kinds: kinds }),
      );
    }
    tellCalls(calls, { at, messageId: id }, this.out);
    tellResults(results, { at }, this.out);
  }

  private session(row: Json, document: Json): void {
    const caller = dig(document, 'subagent_context', 'parent_thread_id');
    const parent = nameField(row, 'parent_id') ?? (typeof caller === 'string' && caller !== '' ? caller : null);
    const folders = (nameField(row, 'folder_paths') ?? '').split('\n').filter((folder) => folder !== '');
    const model = objectField(document, 'model') ?? {};
    const isImported = boolField(document, 'imported') === true;
    this.out.session(
      sessionFields({
        session_id: this.context.source.name,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'subagent',
        origin: 'ide',
        title: nameField(row, 'summary'),
        cwd: folders[0] ?? null,
        extra: {
          // The present choice: which replies are whose is not stored.
          model: nameField(model, 'model'),
          provider: nameField(model, 'provider'),
          created_at: nameField(row, 'created_at'),
          updated_at: nameField(row, 'updated_at'),
          ...(folders.length > 1 ? { folders } : {}),
          ...(isImported ? { imported: true } : {}),
        },
      }),
    );
  }
}

/** Sessions in files: snapshots of all messages, and transcripts of a message a line. Both know little of times. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime, isoTime } from '../dialects/clock.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { asObject, field, type Json, nameField } from '../dialects/json.ts';
import { eventAt, resumeCommand, sessionFields } from '../dialects/rows.ts';
import { tellMessage } from './message.ts';

export class FileDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private head: Json = {};

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    // Of a snapshot: all but its messages.
    if (frame.locator === '') {
      const head = asObject(frame.json());
      if (head === null || field(head, 'messages') !== undefined)
        throw sourceError('foreign_schema', 'is no session: it holds no list of messages');
      this.head = head;
      return;
    }
    const message = objectOrReport(frame, this.out);
    if (message === null) return;
    if (field(message, 'role') === 'session_meta') this.head = message;
    const position = frame.position();
    const native = field(message, 'timestamp');
    // Mostly a wall clock of nobody knows where, which is no time.
    const time = typeof native === 'number' ? epochTime(native, 's') : isoTime(native);
    tellMessage(
      message,
      {
        recordId: null,
        isActive: true,
        isCopy: false,
        isMeta: false,
        kind: 'message',
        at: (slot) => eventAt(this.context.source.name, null, slot, position, time),
      },
      this.out,
    );
  }

  finish(): void {
    const { source } = this.context;
    const model = nameField(this.head, 'model');
    this.out.session(
      sessionFields({
        session_id: source.name,
        origin: nameField(this.head, 'platform'),
        resume_command: resumeCommand('hermes --resume', source.name),
        extra: model === null ? null : { model },
      }),
    );
  }
}

/** The whole-file snapshot: header fields, and the messages as they were last. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { asObject } from '../dialects/json.ts';
import { readMessage, tellMessage } from './message.ts';
import { SessionFacts } from './session.ts';

export class SnapshotDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly facts: SessionFacts;
  private readonly told = { calls: new Set<string>(), results: new Set<string>() };

  /** `resume`: command that takes a session up again; null where there is none. */
  constructor(context: DecodeContext, out: Emitter, resume: string | null = 'gemini --resume') {
    this.out = out;
    this.facts = new SessionFacts(context.source, resume);
  }

  frame(frame: Frame): void {
    if (frame.locator === '') {
      const head = asObject(frame.json());
      if (head === null) throw sourceError('foreign_schema', 'is no session: its top is no object');
      this.facts.header(head);
      return;
    }
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const position = frame.position();
    const message = readMessage(record, this.out, position);
    if (message === null) return;
    tellMessage(
      message,
      { sessionId: this.facts.id, position, isActive: true, isMeta: message.isMeta, told: this.told },
      this.out,
    );
  }

  finish(): void {
    this.facts.tell(this.out);
  }
}

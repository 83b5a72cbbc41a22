/** `history.jsonl`: the prompts that were typed, of all sessions. Entries of a log, not messages. */

import type { Frame } from '../../framing/frame.ts';
import type { Decoder, Emitter } from '../agent.ts';
import { asObject, field, idOrNull, stringField, textOrNull } from './guards.ts';

export class HistoryDecoder implements Decoder {
  private readonly out: Emitter;

  constructor(out: Emitter) {
    this.out = out;
  }

  frame(frame: Frame): void {
    if (!this.out.wants.history) return;
    const entry = asObject(frame.json());
    const position = frame.position();
    if (entry === null) {
      this.out.badRecord(position, 'not_an_object', 'the line is not one JSON object');
      return;
    }
    const time = field(entry, 'timestamp');
    const timestamp = typeof time === 'number' && Number.isSafeInteger(time) ? time : null;
    this.out.history(position, {
      session_id: idOrNull(stringField(entry, 'sessionId')),
      text: textOrNull(stringField(entry, 'display')),
      timestamp,
      timestamp_native: timestamp,
      unit: timestamp === null ? null : 'ms',
      cwd: idOrNull(stringField(entry, 'project')),
    });
  }

  save(): unknown {
    return {};
  }

  finish(): void {
    // Every line was told as it came.
  }
}

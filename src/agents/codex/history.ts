/** `history.jsonl`: every prompt that was sent, `{session_id, ts, text}` with seconds since 1970; no sessions. */

import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { asObject, nameField, numberField, stringField } from './guards.ts';

export function historyDecoder(_context: DecodeContext, out: Emitter): Decoder {
  return {
    frame(frame: Frame): void {
      const entry = asObject(frame.json());
      if (entry === null) {
        out.badRecord(frame.position(), 'not_an_object', 'The entry is no object.');
        return;
      }
      const seconds = numberField(entry, 'ts');
      out.history(frame.position(), {
        session_id: nameField(entry, 'session_id'),
        text: stringField(entry, 'text'),
        timestamp: seconds === null ? null : seconds * 1000,
        timestamp_native: Number.isSafeInteger(seconds) ? seconds : null,
        unit: seconds === null ? null : 's',
        cwd: null,
      });
    },
    finish(): void {},
    save: () => ({}),
  };
}

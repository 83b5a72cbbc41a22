/** Transcripts in cold storage: a line for each row of the tables that they were taken out of (writer). */
import { recordError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import { asObject, type Json, numberField, objectField, parseOrUndefined, stringField } from '../dialects/json.ts';

/** An event with the time of its row, where it has none itself. */
export function timedEvent(event: Json, created: unknown): Json {
  const message = objectField(event, 'message');
  const isTimed =
    stringField(event, 'timestamp') !== null || (message !== null && numberField(message, 'timestamp') !== null);
  return isTimed || typeof created !== 'number' ? event : { ...event, created_at: created };
}

/** The event in a line; null for a line of another kind. Throws a record-scoped error. */
export function coldEvent(line: unknown): Json | null {
  const record = asObject(line);
  if (record === null || stringField(record, 'kind') !== 'event') return null;
  const row = objectField(record, 'row');
  const text = row === null ? null : stringField(row, 'event_json');
  const event = text === null ? null : asObject(parseOrUndefined(text));
  if (row === null || event === null) throw recordError('malformed_json', 'the archived row holds no event');
  return timedEvent(event, numberField(row, 'created_at'));
}

/** Frames of the events in lines. */
export function* coldFrames(frames: Iterable<Frame>): Generator<Frame, void, undefined> {
  for (const frame of frames) {
    yield {
      ordinal: frame.ordinal,
      byteStart: frame.byteStart,
      byteEnd: frame.byteEnd,
      locator: frame.locator,
      json: () => coldEvent(frame.json()),
      bytes: () => frame.bytes(),
      includes: (needle) => frame.includes(needle),
      position: () => frame.position(),
    };
  }
}

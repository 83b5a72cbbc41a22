/** Lines in the spelling of Claude Code, where they are spelled otherwise: those of old tasks, and hidden messages. */
import type { Frame, Position } from '../../framing/frame.ts';
import { asObject, boolField, field, type Json, objectField, parseOrUndefined, stringField } from '../dialects/json.ts';

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const HIDDEN = Buffer.from('"isVisibleInTranscriptOnly"');

/** A frame of a line that is read as another one. */
class SpelledFrame implements Frame {
  readonly ordinal: number;
  readonly byteStart: number | null;
  readonly byteEnd: number | null;
  readonly locator: string | null;
  private readonly frame: Frame;
  private readonly text: Buffer;

  constructor(frame: Frame, text: Buffer) {
    this.frame = frame;
    this.text = text;
    ({ ordinal: this.ordinal, byteStart: this.byteStart, byteEnd: this.byteEnd, locator: this.locator } = frame);
  }

  json(): unknown {
    const value = parseOrUndefined(this.text.toString('utf8'));
    // The damage is that of the line itself.
    return value === undefined ? this.frame.json() : value;
  }

  bytes(): Buffer {
    return this.text;
  }

  includes(needle: Buffer): boolean {
    return this.text.includes(needle);
  }

  position(): Position {
    return this.frame.position();
  }
}

/** The line as Claude Code would have written it; nearly always as it is. Lines of tasks are looked at one by one. */
export function spelled(frame: Frame, isTask: boolean): Frame {
  let bytes = frame.bytes();
  const isMarked = bytes.subarray(0, MARK.length).equals(MARK);
  if (isMarked) bytes = bytes.subarray(MARK.length);
  if (isTask || bytes.includes(HIDDEN)) {
    const record = asObject(parseOrUndefined(bytes.toString('utf8')));
    const other = record === null ? null : isTask ? ofTask(record) : ofHidden(record);
    if (other !== null) return new SpelledFrame(frame, Buffer.from(JSON.stringify(other)));
  }
  return isMarked ? new SpelledFrame(frame, Buffer.from(bytes)) : frame;
}

export function* spelledFrames(frames: Iterable<Frame>, isTask: boolean): Generator<Frame, void, undefined> {
  for (const frame of frames) yield spelled(frame, isTask);
}

/** A row that says its role where others say their type (peer); its message may stand at its top. */
function ofTask(record: Json): Json | null {
  const role = stringField(record, 'role');
  if (role === null || stringField(record, 'type') !== null) return null;
  if (objectField(record, 'message') !== null) return { ...record, type: role };
  const message: Record<string, unknown> = { role, content: field(record, 'content') };
  for (const key of ['model', 'usage', 'stop_reason']) {
    if (field(record, key) !== undefined) message[key] = field(record, key);
  }
  return { ...record, type: role, message };
}

/** What only the transcript shows, nobody typed. */
const ofHidden = (record: Json): Json | null =>
  boolField(record, 'isVisibleInTranscriptOnly') === true && boolField(record, 'isMeta') !== true
    ? { ...record, isMeta: true }
    : null;

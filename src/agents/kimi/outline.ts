/** What the first records of a journal need to know of the last ones. */
import type { Frame } from '../../framing/frame.ts';
import { objectOf } from '../dialects/frames.ts';
import { stringField } from '../dialects/json.ts';

export interface JournalOutline {
  /** The last line that says that the journal was copied: what stands before it is the origin's. */
  readonly forkedAt: number;
  /** Whether requests are kept: else the ends of steps tell their usage. */
  readonly hasRequests: boolean;
}

export function outlineJournal(frames: Iterable<Frame>): JournalOutline {
  let forkedAt = -1;
  let hasRequests = false;
  const [forked, request] = [Buffer.from('"forked"'), Buffer.from('"usage.record"')];
  for (const frame of frames) {
    const isRequest = !hasRequests && frame.includes(request);
    if (!isRequest && !frame.includes(forked)) continue;
    const type = stringField(objectOf(frame) ?? {}, 'type');
    if (type === 'forked') forkedAt = frame.ordinal;
    else if (type === 'usage.record') hasRequests = true;
  }
  return { forkedAt, hasRequests };
}

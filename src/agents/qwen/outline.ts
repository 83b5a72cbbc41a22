/** What the first records need to know of the last ones. */
import type { Frame } from '../../framing/frame.ts';
import { RecordTree } from '../dialects/branches.ts';
import { objectOf } from '../dialects/frames.ts';
import { nameField, stringField } from '../dialects/json.ts';

export interface ChatOutline {
  /** Ids on the live branch; null where a parent is missing, so that nothing can be said of what lies before. */
  readonly live: ReadonlySet<string>;
  readonly isBroken: boolean;
  /** The last line of each record that stands on several. */
  readonly lastLine: ReadonlyMap<string, number>;
}

/** Records that are no link of the conversation, so that they cannot be its end. */
const BESIDE = /^(?:session_artifact_|session_sources_snapshot$|managed_session_)/;

export function readOutline(frames: Iterable<Frame>): ChatOutline {
  const tree = new RecordTree();
  const lastLine = new Map<string, number>();
  for (const frame of frames) {
    const record = objectOf(frame);
    const uuid = record === null ? null : nameField(record, 'uuid');
    if (record === null || uuid === null) continue;
    const isLink = !BESIDE.test(stringField(record, 'subtype') ?? stringField(record, 'type') ?? '');
    if (tree.has(uuid)) {
      lastLine.set(uuid, frame.ordinal);
      // The first line of a record says what it follows.
      if (isLink) tree.touch(uuid);
    } else tree.add(uuid, nameField(record, 'parentUuid'), isLink);
  }
  const { live, isBroken } = tree.branch();
  return { live, isBroken, lastLine };
}

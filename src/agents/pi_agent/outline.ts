/** What of a session must be known before its first entry is told. */
import type { Frame } from '../../framing/frame.ts';
import { RecordTree } from '../dialects/branches.ts';
import { objectOf } from '../dialects/frames.ts';
import { type Json, nameField, stringField } from '../dialects/json.ts';

export interface PiOutline {
  /** Whether the first line that can be read is a session header: else this is no session of pi. */
  readonly isSession: boolean;
  /** Ids on the live branch; null where there are no ids (one branch), or branches cannot be told apart. */
  readonly live: ReadonlySet<string> | null;
  readonly isBroken: boolean;
}

export const isHeader = (entry: Json): boolean =>
  stringField(entry, 'type') === 'session' && nameField(entry, 'id') !== null;

export function readOutline(frames: Iterable<Frame>): PiOutline {
  const tree = new RecordTree();
  let isSession: boolean | null = null;
  let activeLeaf: string | null = null;
  for (const frame of frames) {
    const entry = objectOf(frame);
    if (entry === null) continue;
    if (isSession === null) {
      isSession = isHeader(entry);
      // A port of pi names the end of the live branch in the header.
      activeLeaf = nameField(entry, 'leafId');
      if (!isSession) break;
      continue;
    }
    const id = nameField(entry, 'id');
    if (id !== null && stringField(entry, 'type') !== 'session') tree.add(id, nameField(entry, 'parentId'));
  }
  const isWhole = tree.isWhole();
  const leaf = activeLeaf !== null && tree.has(activeLeaf) ? activeLeaf : undefined;
  return {
    isSession: isSession === true,
    live: tree.size === 0 || !isWhole ? null : tree.branch(leaf).live,
    isBroken: !isWhole,
  };
}

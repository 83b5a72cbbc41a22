/** Which events are on the live branch. */
import type { Frame } from '../../framing/frame.ts';
import { RecordTree } from '../dialects/branches.ts';
import { objectOf } from '../dialects/frames.ts';
import { boolField, nameField, stringField } from '../dialects/json.ts';

export interface Outline {
  /** Ids on the live branch; null where a log has no branches. */
  readonly live: ReadonlySet<string> | null;
}

/** Events that the program notes beside the conversation: they never end it. */
const NOTES = new Set(['ConversationErrorEvent', 'ConversationStateUpdateEvent']);

/** Events without a parent hang on the one before: logs of old were linear. */
export function readOutline(frames: Iterable<Frame>): Outline {
  const tree = new RecordTree();
  let leaf: string | null = null;
  let isEmpty = false;
  let hasBranches = false;
  let before: string | null = null;
  for (const frame of frames) {
    const record = objectOf(frame);
    if (record === null) continue;
    if (frame.locator === 'base_state.json') {
      leaf = nameField(record, 'leaf_event_id');
      isEmpty = boolField(record, 'head_is_empty') === true;
      continue;
    }
    const id = nameField(record, 'id');
    if (id === null) continue;
    const parent = nameField(record, 'parent_id');
    if (parent !== null) hasBranches = true;
    tree.add(id, parent === '__root__' ? null : (parent ?? before), !NOTES.has(stringField(record, 'kind') ?? ''));
    before = id;
  }
  if (leaf === null && isEmpty) return { live: new Set() };
  if (leaf === null && !hasBranches) return { live: null };
  return { live: tree.branch(leaf ?? undefined).live };
}

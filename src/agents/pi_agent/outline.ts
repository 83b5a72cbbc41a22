/** What of a session must be known before its first entry is told. */
import type { Frame } from '../../framing/frame.ts';
import { RecordTree } from '../dialects/branches.ts';
import { objectOf } from '../dialects/frames.ts';
import { field, type Json, nameField, stringField } from '../dialects/json.ts';

export interface PiOutline {
  /** Whether the first line that can be read is a session header: else this is no session of pi. */
  readonly isSession: boolean;
  /** Ids on the live branch; null where there are no ids (one branch), or branches cannot be told apart. */
  readonly live: ReadonlySet<string> | null;
  readonly isBroken: boolean;
  /** The file begins in the middle of a session. */
  readonly isCut: boolean;
  /** What became of the header of a file of entries: its line cannot be read, or is not there; null where it is whole. */
  readonly damage: 'unreadable' | 'missing' | null;
}

export const isHeader = (entry: Json): boolean =>
  stringField(entry, 'type') === 'session' && nameField(entry, 'id') !== null;

/** A message without an entry around it. */
export const isBareMessage = (line: Json): boolean =>
  stringField(line, 'type') === null && stringField(line, 'role') !== null && field(line, 'content') !== undefined;

/** What differs in a product's files. */
export interface OutlineOptions {
  /** Whether a file whose header was cut off is a session all the same. */
  readonly isHeaderNeeded?: boolean;
  /** Type of a line that may stand before the header. */
  readonly preface?: string;
  /** Whether an entry without a parent hangs on the one before it. */
  readonly hangsOnLast?: boolean;
  /** Called with every entry. */
  readonly each?: (entry: Json) => void;
}

const ENTRY_TYPES = new Set([
  'branch_summary',
  'compaction',
  'custom',
  'custom_message',
  'label',
  'message',
  'model_change',
  'session_info',
  'thinking_level_change',
]);

const isEntry = (line: Json): boolean => ENTRY_TYPES.has(stringField(line, 'type') ?? '') || isBareMessage(line);

export function readOutline(
  frames: Iterable<Frame>,
  { isHeaderNeeded = true, preface, hangsOnLast = false, each }: OutlineOptions = {},
): PiOutline {
  const tree = new RecordTree();
  let isSession: boolean | null = null;
  let isCut = false;
  let isUnreadable = false;
  let damage: PiOutline['damage'] = null;
  let activeLeaf: string | null = null;
  let last: string | null = null;
  for (const frame of frames) {
    const entry = objectOf(frame);
    if (entry === null) {
      isUnreadable ||= isSession === null;
      continue;
    }
    each?.(entry);
    if (isSession === null && preface !== undefined && stringField(entry, 'type') === preface) continue;
    if (isSession === null) {
      isSession = isHeader(entry);
      // A port of pi names the end of the live branch in the header.
      activeLeaf = nameField(entry, 'leafId');
      if (isSession) continue;
      if (isEntry(entry)) {
        isCut = !isHeaderNeeded;
        if (isHeaderNeeded) damage = isUnreadable ? 'unreadable' : 'missing';
      } else if (stringField(entry, 'type') === 'session') damage = 'missing';
      else break;
      isSession = true;
    }
    const id = nameField(entry, 'id');
    if (id === null || stringField(entry, 'type') === 'session' || stringField(entry, 'type') === preface) continue;
    const parent = nameField(entry, 'parentId') ?? (hangsOnLast && !('parentId' in entry) ? last : null);
    tree.add(id, parent);
    last = id;
  }
  const isWhole = !isCut && tree.isWhole();
  const leaf = activeLeaf !== null && tree.has(activeLeaf) ? activeLeaf : undefined;
  return {
    isSession: isSession === true,
    live: tree.size === 0 || !isWhole ? null : tree.branch(leaf).live,
    // What the first entry of a cut file hung on is not there: that says nothing of its branches.
    isBroken: !isWhole && !isCut,
    isCut,
    damage,
  };
}

/** The tree of a session's entries, and what ties a session to the one it was forked from. */
import type { Frame } from '../../framing/frame.ts';
import type { Links, SourceSpec } from '../agent.ts';
import { RecordTree } from '../dialects/branches.ts';
import { linksOf } from '../dialects/forks.ts';
import { objectOf } from '../dialects/frames.ts';
import { type Json, nameField, stringField } from '../dialects/json.ts';
import { textHint } from '../dialects/rows.ts';

export interface EntryOutline {
  /** Ids on the live branch; null where there is no tree, or it is broken. */
  readonly live: ReadonlySet<string> | null;
  readonly isBroken: boolean;
}

export const isHeader = (record: Json): boolean => stringField(record, 'type') === 'session';

/** Id of an entry of the tree; rows of the layouts before it get new ids whenever they are saved. */
export const entryId = (record: Json): string | null =>
  stringField(record, 'type') === null || isHeader(record) ? null : nameField(record, 'id');

export function readOutline(frames: Iterable<Frame>): EntryOutline {
  const tree = new RecordTree();
  for (const frame of frames) {
    const record = objectOf(frame);
    const id = record === null ? null : entryId(record);
    if (record !== null && id !== null) tree.add(id, nameField(record, 'parentId'));
  }
  if (tree.size === 0) return { live: null, isBroken: false };
  const { live, isBroken } = tree.branch();
  return { live: isBroken ? null : live, isBroken };
}

/** A fork is named by the file beside the session, or by the header. */
export function parentOf(source: SourceSpec, header: Json | null): string | null {
  const named = textHint(source, 'parent');
  if (named !== null) return named;
  const path = header === null ? null : nameField(header, 'parentSession');
  return path === null
    ? null
    : path
        .replaceAll('\\', '/')
        .replace(/^.*\//, '')
        .replace(/\.jsonl$/, '');
}

export function peekLinks(frames: Iterable<Frame>, source: SourceSpec): Links {
  for (const frame of frames) {
    const record = objectOf(frame);
    return linksOf(source.name, parentOf(source, record !== null && isHeader(record) ? record : null));
  }
  return linksOf(source.name, parentOf(source, null));
}

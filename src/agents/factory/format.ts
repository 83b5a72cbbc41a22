/** How transcripts are read. */

import type { Frame } from '../../framing/frame.ts';
import type { FormatCode, Links, SourceSpec } from '../agent.ts';
import { claimRecords, copiesOfParents, linksOf } from '../dialects/forks.ts';
import { objectOf } from '../dialects/frames.ts';
import { nameField, parseOrUndefined, stringField } from '../dialects/json.ts';
import { SessionDecoder } from './decode.ts';
import type { Totals } from './totals.ts';

/** The first line names the session that this one goes on from. */
function peek(frames: Iterable<Frame>, source: SourceSpec): Links {
  for (const frame of frames) {
    const record = objectOf(frame);
    if (record === null) continue;
    const id = nameField(record, 'id') ?? source.name;
    return linksOf(id, stringField(record, 'type') === 'session_start' ? nameField(record, 'parent') : null);
  }
  return linksOf(source.name, null);
}

const totalsIn = (source: SourceSpec): Totals | null => {
  const { totals } = source.hints;
  return typeof totals === 'string' ? ((parseOrUndefined(totals) as Totals | undefined) ?? null) : null;
};

export const sessionCode: FormatCode = {
  peek,
  claims: (frames) =>
    claimRecords(frames, (record) =>
      stringField(record, 'type') === 'session_start' ? null : nameField(record, 'id'),
    ),
  resolve: (members) =>
    copiesOfParents(members).map((kinship, i) => {
      const parent = members.find((other) => members[i]!.links.refs.includes(other.links.ids[0] ?? ''));
      const totals = parent === undefined ? null : totalsIn(parent.source);
      // The parent's totals, for a session whose own began with them: they travel as its "parent id".
      return totals === null ? kinship : { ...kinship, parentId: JSON.stringify(totals) };
    }),
  decoder: (context, out) => new SessionDecoder(context, out, totalsIn(context.source)),
};

/** Which file a row belongs to, where several hold it. */

import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, SourceSpec } from '../agent.ts';
import { grown, IdTable } from './id-table.ts';
import { factsOf } from './links.ts';
import { isoTime, Row } from './row.ts';

/**
 * Ranks of a claim. Native: the row carries its file's session id, the file is no agent's, and nothing on any row of that
 * uuid says that it was copied. A background hand-off looks native and comes second.
 */
const NATIVE = 0;
const NATIVE_IN_BACKGROUND = 1;
const NOT_NATIVE = 2;

/** Identity of a reply over files, apart from those of rows. */
export const replyClaim = (messageId: string): number => hash53(`message ${messageId}`);

/** Claims on all transcript rows of a file (by uuid) and all its replies (by message id). */
export function claims(frames: Iterable<Frame>, source: SourceSpec): Claims {
  const { sessionId, isAgent } = factsOf(source);
  const row = new Row('loose');
  const table = new IdTable();
  let ranks = new Uint8Array(64);
  let firstTimestamp: number | null = null;
  const claim = (key: number, rank: number): void => {
    const index = table.add(key);
    if (index === ranks.length) ranks = grown(ranks);
    // The twin of a copied row is a copy too, even where only one of them says so.
    ranks[index] = Math.max(ranks[index]!, rank);
  };
  for (const frame of frames) {
    if (!row.read(frame.bytes()) || row.kind === 'other') continue;
    firstTimestamp ??= isoTime(row.text('timestamp'));
    const copied = isAgent || row.looksCopied(sessionId);
    const rank = copied ? NOT_NATIVE : row.equals('sessionKind', 'bg') ? NATIVE_IN_BACKGROUND : NATIVE;
    const uuid = row.idHash('uuid');
    if (uuid !== 0) claim(uuid, rank);
    if (row.kind !== 'assistant') continue;
    const messageId = row.id('message.id');
    if (messageId !== null) claim(replyClaim(messageId), row.isTrue('isSidechain') ? NOT_NATIVE : rank);
  }
  return { keys: table.keys.slice(0, table.size), ranks: ranks.slice(0, table.size), firstTimestamp };
}

/** Members from the one with the best claim among equals: earlier first row, then path. */
function byAge(members: readonly FamilyMember[]): number[] {
  const time = (index: number): number => members[index]!.claims.firstTimestamp ?? Number.POSITIVE_INFINITY;
  const path = (index: number): string => members[index]!.source.path;
  return members
    .map((_, index) => index)
    .sort((a, b) => (time(a) !== time(b) ? (time(a) < time(b) ? -1 : 1) : path(a) < path(b) ? -1 : 1));
}

/** Gives each row to the holder with the strongest claim; for all others it is a copy. A lone holder keeps its rows. */
export function resolve(members: readonly FamilyMember[]): Kinship[] {
  const table = new IdTable();
  let owners = new Int32Array(64);
  let ranks = new Uint8Array(64);
  const order = byAge(members);
  for (const member of order) {
    const { keys, ranks: claimed } = members[member]!.claims;
    for (let i = 0; i < keys.length; i++) {
      const known = table.size;
      const index = table.add(keys[i]!);
      if (index === owners.length) {
        owners = grown(owners);
        ranks = grown(ranks);
      }
      if (index < known && ranks[index]! <= claimed[i]!) continue;
      owners[index] = member;
      ranks[index] = claimed[i]!;
    }
  }
  const ids = members.map(({ links }) => new Set(links.ids));
  return members.map(({ claims: { keys }, links }, member) => ({
    copies: keys.filter((key) => owners[table.find(key)] !== member),
    foundRelated: links.refs.some((ref) => ids.some((others, other) => other !== member && others.has(ref))),
  }));
}

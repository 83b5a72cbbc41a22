/** Which file a row belongs to, where several hold it. */

import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, Outlined, SourceSpec } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { grown, IdTable } from './id-table.ts';
import { factsOf } from './links.ts';
import { type ClaudeOutline, OutlineBuilder } from './outline.ts';
import { Row } from './row.ts';

/**
 * Ranks of a claim. Native: the row carries its file's session id, the file is no agent's, and nothing on any row of that
 * uuid says that it was copied. A background hand-off looks native and comes second.
 */
const NATIVE = 0;
const NATIVE_IN_BACKGROUND = 1;
const NOT_NATIVE = 2;

/** Identity of a reply over files, apart from those of rows. */
export const replyClaim = (messageId: string): number => hash53(`message ${messageId}`);

/**
 * Claims on all transcript rows of a file (by uuid) and all its replies (by message id), and the outline of the same
 * pass.
 */
export function claims(frames: Iterable<Frame>, source: SourceSpec): Claims & { outline: Outlined<ClaudeOutline> } {
  const builder = new ClaimsBuilder(source);
  const outline = new OutlineBuilder(source, null);
  const row = new Row('loose');
  for (const frame of frames) {
    if (!row.read(frame.bytes())) continue;
    builder.add(row);
    outline.add(row, frame.ordinal);
  }
  return { ...builder.finish(), outline: outline.finish(false) };
}

class ClaimsBuilder {
  private readonly sessionId: string;
  private readonly isAgent: boolean;
  private readonly table = new IdTable();
  private ranks = new Uint8Array(64);
  private firstTimestamp: number | null = null;

  constructor(source: SourceSpec) {
    const { sessionId, isAgent } = factsOf(source);
    this.sessionId = sessionId;
    this.isAgent = isAgent;
  }

  add(row: Row): void {
    if (row.kind === 'other') return;
    this.firstTimestamp ??= parseIsoTime(row.text('timestamp'));
    const copied = this.isAgent || row.looksCopied(this.sessionId);
    const rank = copied ? NOT_NATIVE : row.equals('sessionKind', 'bg') ? NATIVE_IN_BACKGROUND : NATIVE;
    const uuid = row.idHash('uuid');
    if (uuid !== 0) this.claim(uuid, rank);
    if (row.kind !== 'assistant') return;
    const messageId = row.id('message.id');
    if (messageId !== null) this.claim(replyClaim(messageId), row.isTrue('isSidechain') ? NOT_NATIVE : rank);
  }

  finish(): Claims {
    const { size, keys } = this.table;
    return { keys: keys.slice(0, size), ranks: this.ranks.slice(0, size), firstTimestamp: this.firstTimestamp };
  }

  private claim(key: number, rank: number): void {
    const index = this.table.add(key);
    if (index === this.ranks.length) this.ranks = grown(this.ranks);
    // The twin of a copied row is a copy too, even where only one of them says so.
    this.ranks[index] = Math.max(this.ranks[index]!, rank);
  }
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

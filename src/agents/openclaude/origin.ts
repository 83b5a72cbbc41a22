/** Which session a file was branched or forked from: copies carry the new session's id and look like its own. */
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, Links, SourceSpec } from '../agent.ts';
import { factsOf, LinkCollector } from '../claude/links.ts';
import { Row } from '../claude/row.ts';
import { objectOf } from '../dialects/frames.ts';
import { type Json, nameField, objectField, stringField } from '../dialects/json.ts';

const BRANCH = Buffer.from('"session-branch"');
const NOTICE = Buffer.from('Forked conversation from session ');
const FORKED_FROM = Buffer.from('"forkedFrom"');
const NOTICE_TEXT = /^Forked conversation from session (\S+) into new session (\S+?)\.(?:\s|$)/;

/** Claims of this rank follow that of a row which was copied under a new id: the id that it has in its parent's file. */
export const ORIGIN_RANK = 255;

/** Looks at rows as they go by. */
export class OriginReader {
  private readonly sessionId: string;
  private notice: string | null = null;
  private branch: string | null = null;
  private root: string | null = null;
  /** Keys of rows copied under a new id, each with the key of the row that it is. */
  readonly renamed: number[] = [];

  constructor(source: SourceSpec) {
    this.sessionId = factsOf(source).sessionId;
  }

  /** The notice of a fork names both sessions; a row of a branch may have come along with what was copied. */
  get parent(): string | null {
    return this.notice ?? this.branch;
  }

  /** Sessions that the file may repeat, the nearest first. */
  get ancestors(): string[] {
    return [this.notice ?? this.branch, this.root].filter((id) => id !== null && id !== this.sessionId) as string[];
  }

  add(frame: Frame): void {
    if (frame.oversized === true) return;
    const isBranch = frame.includes(BRANCH);
    if (!isBranch && !frame.includes(NOTICE) && !frame.includes(FORKED_FROM)) return;
    const record = objectOf(frame);
    if (record === null) return;
    const type = stringField(record, 'type');
    if (type === 'session-branch') {
      this.branch = nameField(record, 'parentSessionId') ?? this.branch;
      this.root = nameField(record, 'rootSessionId') ?? this.root;
    } else if (type === 'system') this.addNotice(record);
    else this.addFork(record);
  }

  private addNotice(record: Json): void {
    const said = NOTICE_TEXT.exec(stringField(record, 'content') ?? '');
    // One that was copied names the session that it was written for.
    if (said?.[2] === this.sessionId) this.notice = said[1] ?? null;
  }

  private addFork(record: Json): void {
    const own = nameField(record, 'uuid');
    const origin = nameField(objectField(record, 'forkedFrom') ?? {}, 'messageUuid');
    if (own !== null && origin !== null && own !== origin) this.renamed.push(hash53(own), hash53(origin));
  }
}

/** Hands frames on, and lets `reader` look at each. */
export function* watched(frames: Iterable<Frame>, reader: OriginReader): Generator<Frame> {
  for (const frame of frames) {
    reader.add(frame);
    yield frame;
  }
}

/** Ids by which a file is tied to others; the nearest ancestor is told apart by its place, see `ancestorsOf`. */
export function readLinks(frames: Iterable<Frame>, source: SourceSpec): Links {
  const reader = new OriginReader(source);
  const links = new LinkCollector(source);
  const row = new Row('loose');
  for (const frame of watched(frames, reader)) {
    if (frame.oversized !== true && row.read(frame.bytes()) && row.kind !== 'other') links.add(row);
  }
  return withAncestors(links.links(), reader);
}

export const withAncestors = (links: Links, reader: OriginReader): Links => ({
  ids: links.ids,
  refs: [...new Set([...reader.ancestors, ...links.refs])],
});

/** Claims with, behind each row that was copied under a new id, the id that it has where it came from. */
export function withOrigins(claims: Claims, reader: OriginReader): Claims {
  const { renamed } = reader;
  if (renamed.length === 0) return claims;
  const copied = 2;
  return {
    firstTimestamp: claims.firstTimestamp,
    keys: Float64Array.from([...claims.keys, ...renamed]),
    ranks: Uint8Array.from([...claims.ranks, ...renamed.map((_, index) => (index % 2 === 0 ? copied : ORIGIN_RANK))]),
  };
}

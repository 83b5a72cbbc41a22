/** Families of rollouts: a child and the parent whose history it repeats, the files of one thread. */

import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { Claims, FamilyMember, Kinship, Links, SourceSpec } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { nameField } from './guards.ts';
import { readHead } from './head.ts';
import { type Header, isOwnHeader, readHeader, threadIdOfName } from './header.ts';
import { cutKey, payloadKey, TURNS_MARK, turnKey } from './keys.ts';
import { type RolloutLine, readLine, turnIdOf } from './line.ts';
import { isClosed } from './scan.ts';
import { FAT_LINES } from './types.ts';

/** The line in a frame; null where it is damaged (the decoder reports it). */
export function lineOf(frame: Frame): RolloutLine | null {
  try {
    const line = readLine(frame.json());
    return typeof line === 'string' ? null : line;
  } catch (error) {
    if (error instanceof ScopedError && error.scope === 'record') return null;
    throw error;
  }
}

/** `"payload":{"id":"…"` at the start of a header, after the root session's id where that stands first. */
const CANONICAL_ID = /^"session_id":"[^"\\]*","id":"([^"\\]+)"|^"id":"([^"\\]+)"/;

/** The thread id of a header line, without parsing it where it is spelled as the writer spells it: it can be long. */
function idOfHead(frame: Frame): string | null {
  const bytes = frame.bytes();
  const head = readHead(bytes);
  if (head?.type !== 'session_meta' || !isClosed(bytes)) return null;
  const match = CANONICAL_ID.exec(bytes.toString('latin1', head.end, head.end + 256));
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * Links of a rollout, from its first two lines. A parent is referred to only where copies may follow: after a second
 * header. Where the ordinals alone will say what is copied, its file is not needed; `outline` corrects that if they do
 * not. Files of one thread share their id and so are a family of themselves.
 */
export function peekLinks(frames: Iterable<Frame>, source: SourceSpec): Links {
  const nameId = threadIdOfName(source.name);
  let quickId: string | null = null;
  let first: Buffer | null = null;
  let header: Header | null = null;
  for (const frame of frames) {
    if (first === null && header === null) {
      quickId = frame.ordinal === 0 ? idOfHead(frame) : null;
      if (quickId !== null) first = Buffer.from(frame.bytes());
      else {
        const line = lineOf(frame);
        if (line === null) continue;
        if (line.type !== 'session_meta' || !isOwnHeader(line.payload, frame.ordinal, nameId))
          return { ids: [nameId], refs: [] };
        header = readHeader(line.payload, nameId);
      }
      continue;
    }
    const type = readHead(frame.bytes())?.type;
    if (type !== undefined && type !== 'session_meta' && isClosed(frame.bytes())) break;
    const line = lineOf(frame);
    if (line === null) continue;
    header ??= headerOf(first, nameId);
    const secondId = line.type === 'session_meta' ? nameField(line.payload, 'id') : null;
    return header === null ? { ids: [nameId], refs: [] } : links(header, secondId, line.ordinal !== null);
  }
  return { ids: [quickId ?? header?.id ?? nameId], refs: [] };
}

function headerOf(bytes: Buffer | null, nameId: string): Header | null {
  if (bytes === null) return null;
  try {
    const line = readLine(JSON.parse(bytes.toString('utf8')));
    return typeof line === 'string' || line.type !== 'session_meta' ? null : readHeader(line.payload, nameId);
  } catch {
    return null;
  }
}

/** Links as the first two lines give them; `trustOrdinals`: rule 2 is expected to bound the copies. */
export function links(header: Header, secondId: string | null, trustOrdinals: boolean): Links {
  const ids = [header.id];
  const mayCopy = header.base === null && secondId !== null && secondId !== header.id;
  const byOrdinals = header.historyStart !== null && trustOrdinals;
  return { ids, refs: mayCopy && !byOrdinals ? [secondId] : [] };
}

/** Turns, or payloads where a file has no turn ids, of all lines; and the cut that a revert makes. */
export function claimLines(frames: Iterable<Frame>, source: SourceSpec): Claims {
  const turns = new Set<number>();
  const payloads = new Set<number>();
  let firstTimestamp: number | null = null;
  let cut: number | null = null;
  let isFirst = true;
  const nameId = threadIdOfName(source.name);
  for (const frame of frames) {
    const head = readHead(frame.bytes());
    // Once a turn id was seen, only lines that can hold one matter; the context is never compared.
    const skip =
      head !== null && (FAT_LINES.has(head.type) || (turns.size > 0 && !mayHoldTurn(head.type, head.payloadType)));
    if (skip && !isFirst) continue;
    const line = lineOf(frame);
    if (line === null) continue;
    firstTimestamp ??= parseIsoTime(line.timestampText);
    if (isFirst && line.type === 'session_meta' && isOwnHeader(line.payload, frame.ordinal, nameId))
      cut = revertCut(readHeader(line.payload, nameId));
    isFirst = false;
    const turn = turnIdOf(line);
    if (turn !== null) turns.add(turnKey(turn));
    else if (turns.size === 0 && line.type !== 'session_meta') payloads.add(payloadKey(line));
  }
  const keys = turns.size > 0 ? [TURNS_MARK, ...turns] : [...payloads];
  const cuts = cut === null ? [] : [cutKey(cut)];
  return {
    keys: Float64Array.from([...keys, ...cuts]),
    ranks: Uint8Array.from([...keys.map(() => NATIVE), ...cuts.map(() => CUT)]),
    firstTimestamp,
  };
}

const NATIVE = 0;
/** Rank of the key that is a cut: it speaks of the thread's other files, not of lines. */
const CUT = 1;

const mayHoldTurn = (type: string, payloadType: string | null): boolean =>
  type === 'turn_context' ||
  (type === 'event_msg' && (payloadType === null || payloadType === 'task_started' || payloadType === 'turn_started'));

/** `history_base` on the own thread: its earlier files are taken back from there. */
const revertCut = (header: Header): number | null =>
  header.base !== null && header.base.threadId === header.id ? header.base.endOrdinal : null;

const keysOf = (member: FamilyMember, rank: number): number[] =>
  Array.from(member.claims.keys).filter((_, i) => member.claims.ranks[i] === rank);

/** Gives each member its parents' keys, and the cuts that later files of its own thread make. */
export function resolveFamily(members: readonly FamilyMember[]): Kinship[] {
  return members.map((member) => {
    const parents = members.filter(
      (other) => other !== member && other.links.ids.some((id) => member.links.refs.includes(id)),
    );
    // File names begin with the time, so that they order the files of one thread.
    const later = members.filter(
      (other) => other.source.name > member.source.name && other.links.ids.some((id) => member.links.ids.includes(id)),
    );
    const keys = [
      ...parents.flatMap((other) => keysOf(other, NATIVE)),
      ...later.flatMap((other) => keysOf(other, CUT)),
    ];
    return { copies: Float64Array.from(keys), foundRelated: parents.length > 0 };
  });
}

/** Copies of one session: when an empty window becomes a workspace its files are copied, and the originals stay. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, Links, SourceSpec } from '../agent.ts';
import { asObject, type Json, nameField, numberField, objectsField } from '../dialects/json.ts';
import { ObjectLog } from '../dialects/object-log.ts';

/** Among copies: a mark that another file tells the session. */
export const SUPERSEDED = -1;

export const peekLinks = (_frames: Iterable<Frame>, source: SourceSpec): Links => ({ ids: [source.name], refs: [] });

/** The state at the end of a source; undefined where there is none. */
function lastState(frames: Iterable<Frame>, kind: 'log' | 'snapshot'): unknown {
  const log = new ObjectLog();
  let state: unknown;
  for (const frame of frames) {
    try {
      if (kind === 'snapshot') state = frame.json();
      else log.apply(frame.json());
    } catch (error) {
      if (!(error instanceof ScopedError)) throw error;
    }
  }
  return kind === 'snapshot' ? state : log.state;
}

export function claimRequests(frames: Iterable<Frame>, kind: 'log' | 'snapshot'): Claims {
  const state = asObject(lastState(frames, kind));
  const requests: readonly Json[] = state === null ? [] : objectsField(state, 'requests');
  const keys = requests.map((request, index) => hash53(`request ${nameField(request, 'requestId') ?? index}`));
  const last = requests.at(-1);
  return {
    keys: Float64Array.from(keys),
    ranks: new Uint8Array(keys.length),
    firstTimestamp: last === undefined ? null : numberField(last, 'timestamp'),
  };
}

/** The copy with most requests tells the session; then the one whose last request is newer; then a workspace's. */
export function resolveCopies(members: readonly FamilyMember[]): Kinship[] {
  const order = (a: FamilyMember, b: FamilyMember): number =>
    b.claims.keys.length - a.claims.keys.length ||
    (b.claims.firstTimestamp ?? 0) - (a.claims.firstTimestamp ?? 0) ||
    Number(b.source.hints['inWorkspace'] === true) - Number(a.source.hints['inWorkspace'] === true) ||
    (a.source.path < b.source.path ? -1 : 1);
  return members.map((member) => {
    const best = members.filter((other) => other.source.name === member.source.name).sort(order)[0];
    const isBest = best === member;
    return { copies: Float64Array.from(isBest ? [] : [SUPERSEDED]), foundRelated: !isBest };
  });
}

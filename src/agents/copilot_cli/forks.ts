/**
 * Forks: the log of a fork holds copies of its source's events with the same envelope ids, the first one edited. Nothing
 * in the log names the source.
 */
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, Links, SourceSpec } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { objectOf } from '../dialects/frames.ts';
import { field, nameField, stringField } from '../dialects/json.ts';
import { dataOf } from './outline.ts';

/** The id of the first event stays the same in a fork: it ties a family together. The session's own id follows. */
export function peekLinks(frames: Iterable<Frame>, source: SourceSpec): Links {
  for (const frame of frames) {
    const event = objectOf(frame);
    const id = event === null ? null : nameField(event, 'id');
    if (event === null || id === null) continue;
    return { ids: [id, nameField(dataOf(event), 'sessionId') ?? source.name], refs: [] };
  }
  return { ids: [source.name], refs: [] };
}

export const eventKey = (id: string): number => hash53(`event ${id}`);

/** Envelope ids of all events, and when the session began. */
export function claimEvents(frames: Iterable<Frame>): Claims {
  const keys: number[] = [];
  let firstTimestamp: number | null = null;
  for (const frame of frames) {
    const event = objectOf(frame);
    if (event === null) continue;
    if (firstTimestamp === null) {
      const isStart = stringField(event, 'type') === 'session.start';
      const start = isStart ? parseIsoTime(field(dataOf(event), 'startTime')) : null;
      firstTimestamp = start ?? parseIsoTime(field(event, 'timestamp'));
    }
    const id = nameField(event, 'id');
    if (id !== null) keys.push(eventKey(id));
  }
  return { keys: Float64Array.from(keys), ranks: new Uint8Array(keys.length), firstTimestamp };
}

/** Events that an earlier session holds are copies; the parent is the one that shares most, then the latest. */
export function resolveForks(members: readonly FamilyMember[]): Kinship[] {
  const sets = members.map((member) => new Set(member.claims.keys));
  const start = (member: FamilyMember): number => member.claims.firstTimestamp ?? Number.POSITIVE_INFINITY;
  return members.map((member, i) => {
    const copies = new Set<number>();
    let parent: { id: string; shared: number; start: number } | null = null;
    members.forEach((other, j) => {
      if (j === i || start(other) >= start(member)) return;
      const shared = [...sets[i]!].filter((key) => sets[j]!.has(key));
      if (shared.length === 0) return;
      for (const key of shared) copies.add(key);
      const found = { id: other.links.ids[1] ?? other.source.name, shared: shared.length, start: start(other) };
      if (
        parent === null ||
        found.shared > parent.shared ||
        (found.shared === parent.shared && found.start > parent.start)
      )
        parent = found;
    });
    const parentId = (parent as { id: string } | null)?.id ?? null;
    return { copies: Float64Array.from(copies), foundRelated: parentId !== null, parentId };
  });
}

/** Families in which a session repeats the records of its parent under the ids that they have there. */
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, Links } from '../agent.ts';
import { objectOf } from './frames.ts';
import type { Json } from './json.ts';

export const recordKey = (id: string): number => hash53(`record ${id}`);

/** Ids of a source's records, by which copies are known. */
export function claimRecords(frames: Iterable<Frame>, idOf: (record: Json) => string | null): Claims {
  const keys: number[] = [];
  for (const frame of frames) {
    const record = objectOf(frame);
    const id = record === null ? null : idOf(record);
    if (id !== null) keys.push(recordKey(id));
  }
  return { keys: Float64Array.from(keys), ranks: new Uint8Array(keys.length), firstTimestamp: null };
}

export const linksOf = (id: string, parent: unknown): Links => ({
  ids: [id],
  refs: typeof parent === 'string' && parent !== id ? [parent] : [],
});

/** Records that a parent holds are copies in its child. */
export function copiesOfParents(members: readonly FamilyMember[]): Kinship[] {
  return members.map((member) => {
    const parents = members.filter((other) => other !== member && member.links.refs.includes(other.links.ids[0] ?? ''));
    const copies = new Set(parents.flatMap((parent) => [...parent.claims.keys]));
    return { copies: Float64Array.from(copies), foundRelated: parents.length > 0 };
  });
}

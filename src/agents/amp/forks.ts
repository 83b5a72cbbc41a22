/** Forks: the first messages of a fork are copies of those of its origin, with their ids and usage. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, Links, SourceSpec } from '../agent.ts';
import { asObject, field, type Json, nameField } from '../dialects/json.ts';

/** A message by its place, its id and what it cost: one that was edited in the origin since is no copy. */
export const messageKey = (index: number, message: Json): number =>
  hash53(`message ${index} ${String(field(message, 'messageId'))} ${JSON.stringify(field(message, 'usage') ?? null)}`);

const objectOf = (frame: Frame): Json | null => {
  try {
    return asObject(frame.json());
  } catch (error) {
    if (error instanceof ScopedError && error.scope === 'record') return null;
    throw error;
  }
};

export function peekLinks(frames: Iterable<Frame>, source: SourceSpec): Links {
  for (const frame of frames) {
    if (frame.locator !== '') break;
    const head = objectOf(frame);
    const origin = head === null ? null : nameField(head, 'originThreadID');
    return { ids: [source.name], refs: origin === null ? [] : [origin] };
  }
  return { ids: [source.name], refs: [] };
}

export function claimReplies(frames: Iterable<Frame>): Claims {
  const keys: number[] = [];
  for (const frame of frames) {
    if (frame.locator === '') continue;
    const message = objectOf(frame);
    if (message !== null) keys.push(messageKey(frame.ordinal, message));
  }
  return { keys: Float64Array.from(keys), ranks: new Uint8Array(keys.length), firstTimestamp: null };
}

export function resolveForks(members: readonly FamilyMember[]): Kinship[] {
  return members.map((member) => {
    const origins = members.filter((other) => other !== member && member.links.refs.includes(other.links.ids[0] ?? ''));
    const copies = new Set(origins.flatMap((origin) => [...origin.claims.keys]));
    return { copies: Float64Array.from(copies), foundRelated: origins.length > 0 };
  });
}

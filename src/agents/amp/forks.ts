/** Forks: the first messages of a fork are copies of those of its origin, with their ids and usage. */
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, Links, SourceSpec } from '../agent.ts';
import { linksOf } from '../dialects/forks.ts';
import { objectOf } from '../dialects/frames.ts';
import { field, type Json, nameField } from '../dialects/json.ts';

/** A message by its place, its id and what it cost: one that was edited in the origin since is no copy. */
export const messageKey = (index: number, message: Json): number =>
  hash53(`message ${index} ${String(field(message, 'messageId'))} ${JSON.stringify(field(message, 'usage') ?? null)}`);

export function peekLinks(frames: Iterable<Frame>, source: SourceSpec): Links {
  for (const frame of frames) {
    if (frame.locator !== '') break;
    const head = objectOf(frame);
    return linksOf(source.name, head === null ? null : nameField(head, 'originThreadID'));
  }
  return linksOf(source.name, null);
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

/** How sessions are read, and what a fork shares with the session it came from. */
import type { Frame } from '../../framing/frame.ts';
import type { Claims, FormatCode, Links } from '../agent.ts';
import { copiesOfParents, linksOf } from '../dialects/forks.ts';
import { objectOf } from '../dialects/frames.ts';
import { nameField } from '../dialects/json.ts';
import { SessionDecoder } from './decode.ts';
import { type Head, isWhole, messageKey, readHead } from './head.ts';

function claims(frames: Iterable<Frame>): Claims {
  const keys: number[] = [];
  let head: Head | null = null;
  for (const frame of frames) {
    if (frame.locator === '') {
      const document = objectOf(frame);
      head = document === null ? null : readHead(document);
    } else keys.push(messageKey(keys.length, frame.json()));
  }
  const proven = head !== null && isWhole(head, keys.length) ? keys : [];
  return { keys: Float64Array.from(proven), ranks: new Uint8Array(proven.length), firstTimestamp: null };
}

function peek(frames: Iterable<Frame>, name: string): Links {
  for (const frame of frames) {
    const document = frame.locator === '' ? objectOf(frame) : null;
    const head = document === null ? null : readHead(document);
    return linksOf(head?.id ?? name, head === null ? null : nameField(head.metadata, 'parent_session_id'));
  }
  return { ids: [name], refs: [] };
}

/** Number of messages: what was taken over from a parent is not known without it. */
function countMessages(frames: Iterable<Frame>): number {
  let count = 0;
  for (const frame of frames) if (frame.locator !== '') count++;
  return count;
}

export const sessionCode: FormatCode<number> = {
  lists: [['messages']],
  peek: (frames, source) => peek(frames, source.name),
  claims,
  resolve: copiesOfParents,
  outline: (frames) => ({ outline: countMessages(frames) }),
  decoder: (context, out) => new SessionDecoder(context, out),
};

/** The head of a session file, for what must be known of it before it is read. */
import type { Walker } from '../agent.ts';
import { asObject, type Json, parseOrUndefined } from '../dialects/json.ts';
import { isHeader } from './outline.ts';

export interface Head {
  /** The first line, where it is an object. */
  readonly first: Json | null;
  /** The session header: the first line, or the second where a line of another type may stand before it. */
  readonly header: Json | null;
}

/** Nearly all heads are shorter than the first look; lists of folders and files can make them longer. */
const LOOKS = [4 * 1024, 256 * 1024];

export function readHead(path: string, walker: Walker): Head {
  let head: Head = { first: null, header: null };
  for (const bytes of LOOKS) {
    const text = walker.head(path, bytes);
    if (text === null) return head;
    const lines = text.toString('utf8').split('\n', 2);
    const [first = null, second = null] = lines.map((line) => asObject(parseOrUndefined(line)));
    head = { first, header: [first, second].find((line) => line !== null && isHeader(line)) ?? null };
    if (head.header !== null || text.length < bytes) return head;
  }
  return head;
}

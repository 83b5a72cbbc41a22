/**
 * Forks of Kimi CLI: `/fork` and `/undo` begin a session with the lines of another one, word for word. Only the title
 * says so, by what stands before it (writer).
 */
import { hash } from 'node:crypto';
import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { Claims, FamilyMember, Kinship, Links, SourceSpec } from '../agent.ts';
import { objectOf } from '../dialects/frames.ts';
import { objectField } from '../dialects/json.ts';
import { textHint } from '../dialects/rows.ts';

const digest = (frame: Frame): string => hash('sha1', frame.bytes(), 'base64');

export const lineKey = (frame: Frame): number => hash53(`line ${digest(frame)}`);

/** Sessions that begin with the same event are a family. */
export function peekLinks(frames: Iterable<Frame>, source: SourceSpec): Links {
  const ids = [textHint(source, 'sessionId') ?? source.name];
  for (const frame of frames) {
    const record = objectOf(frame);
    if (record !== null && objectField(record, 'message') !== null)
      return { ids, refs: [`begins with ${digest(frame)}`] };
  }
  return { ids, refs: [] };
}

export function claimLines(frames: Iterable<Frame>): Claims {
  const keys: number[] = [];
  for (const frame of frames) {
    const record = objectOf(frame);
    if (record !== null && objectField(record, 'message') !== null) keys.push(lineKey(frame));
  }
  return { keys: Float64Array.from(keys), ranks: new Uint8Array(keys.length), firstTimestamp: null };
}

const MARKS = /^(?:(?:Fork|Undo): )*/;
const isFork = /^(?:Fork|Undo): /;

/** How often a session was copied, by its title. */
const depthOf = ({ source }: FamilyMember): number =>
  (MARKS.exec(textHint(source, 'title') ?? '')?.[0] ?? '').split(': ').length - 1;

export const isForkTitle = (title: string | null): boolean => title !== null && isFork.test(title);

/** Lines count where they were first: with the fewest marks. */
export function resolveForks(members: readonly FamilyMember[]): Kinship[] {
  return members.map((member) => {
    const origins = members.filter((other) => depthOf(other) < depthOf(member));
    const copies = new Set(origins.flatMap(({ claims }) => [...claims.keys]));
    return { copies: Float64Array.from(copies), foundRelated: origins.length > 0 };
  });
}

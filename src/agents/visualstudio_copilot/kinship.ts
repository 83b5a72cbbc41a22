/** Which file tells what, where several hold copies of it. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { Claims, FamilyMember, Kinship, Links, SourceSpec } from '../agent.ts';
import { BestFinds, findsOf, isBetter, SCORES, type Scores } from './finds.ts';
import { spansOf } from './span.ts';

/** The files of a folder belong together. */
export const peekLinks = (_frames: Iterable<Frame>, source: SourceSpec): Links => ({
  ids: [source.path],
  refs: [String(source.hints['set'])],
});

const WIDTH = 1 + SCORES;
const nothing = (): void => {};

/** Of each find its key and, after it, how good it is. */
export function claimSpans(frames: Iterable<Frame>): Claims {
  const best = new BestFinds();
  for (const frame of frames) {
    try {
      for (const span of spansOf(frame, nothing))
        if (span.conversation !== null)
          for (const find of findsOf(span, frame.position(), { fault: nothing, unknown: nothing })) best.add(find);
    } catch (error) {
      if (!(error instanceof ScopedError) || error.scope !== 'record') throw error;
    }
  }
  const keys = best.inOrder().flatMap(({ key, scores }) => [key, ...scores]);
  return { keys: Float64Array.from(keys), ranks: new Uint8Array(keys.length), firstTimestamp: null };
}

const finds = function* ({ claims: { keys } }: FamilyMember): Generator<readonly [number, Scores]> {
  for (let at = 0; at < keys.length; at += WIDTH)
    yield [keys[at]!, [keys[at + 1]!, keys[at + 2]!, keys[at + 3]!, keys[at + 4]!]];
};

/** The best copy is told; of equal ones that of the first file. */
export function resolveSpans(members: readonly FamilyMember[]): Kinship[] {
  const best = new Map<number, { readonly scores: Scores; readonly member: FamilyMember }>();
  const inOrder = [...members].sort((a, b) => (a.source.path < b.source.path ? -1 : 1));
  for (const member of inOrder)
    for (const [key, scores] of finds(member)) {
      const known = best.get(key);
      if (known === undefined || isBetter(scores, known.scores)) best.set(key, { scores, member });
    }
  return members.map((member) => {
    const others = [...finds(member)].filter(([key]) => best.get(key)!.member !== member).map(([key]) => key);
    return { copies: Float64Array.from(others), foundRelated: members.length > 1 };
  });
}

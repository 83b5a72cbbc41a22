/** What a decoder has to know to go on at the end of what it read. */
import { type Emitter, ReadWholeSource } from '../agent.ts';
import { type Entry, type HeldRow, savedSize, saveRow } from './queue.ts';
import { Reply, type ReplyState } from './reply.ts';
import type { SessionState } from './session.ts';
import type { Tail } from './tail.ts';

export type SavedEntry = HeldRow | { readonly kind: 'reply'; readonly reply: ReplyState };

/** JSON-able. */
export interface DecoderState {
  readonly tail: Tail;
  readonly session: SessionState;
  /** The open reply and what waits behind it: the next read tells it all again, whole. */
  readonly waiting: readonly SavedEntry[];
  /** Tables that were asked for: rows of others were not kept. */
  readonly wants: string;
}

/** A state beyond this size is not worth keeping: the source is read whole the next time. */
const MAX_STATE = 256 * 1024;

const wanted = (wants: Emitter['wants']): string =>
  Object.entries(wants)
    .filter(([, isWanted]) => isWanted)
    .map(([table]) => table)
    .sort()
    .join(' ');

const replySize = (reply: ReplyState): number =>
  [...reply.texts, ...reply.thinking, ...reply.tools].reduce((sum, text) => sum + text.length, 1000);

/** Says that there is nothing to go on from. */
const NO_STATE = { whole: true };

/** A state to go on from; where it would be too large (or there was no outline), one that asks for a whole read. */
export function saveState(
  tail: Tail | null,
  session: SessionState,
  waiting: readonly Entry[],
  wants: Emitter['wants'],
): unknown {
  if (tail === null) return NO_STATE;
  let size = 0;
  const saved: SavedEntry[] = [];
  for (const entry of waiting) {
    if (entry.kind !== 'reply') {
      size += savedSize(entry);
      saved.push(saveRow(entry));
    } else if (entry.place instanceof Reply) {
      size += replySize(entry.place.state);
      saved.push({ kind: 'reply', reply: entry.place.state });
    }
    if (size > MAX_STATE) return NO_STATE;
  }
  const state: DecoderState = { tail, session, waiting: saved, wants: wanted(wants) };
  return structuredClone(state);
}

/** The tail of a saved state. Throws `ReadWholeSource` where none was kept. */
export function savedTail(resume: unknown): Tail | null {
  if (resume === null) return null;
  return asState(resume).tail;
}

/** A copy of a saved state. Throws `ReadWholeSource` where it cannot serve a read of these tables. */
export function readState(resume: unknown, wants: Emitter['wants']): DecoderState {
  const state = asState(resume);
  if (state.wants !== wanted(wants)) throw new ReadWholeSource();
  return structuredClone(state);
}

function asState(resume: unknown): DecoderState {
  if (typeof resume !== 'object' || resume === null || !Object.hasOwn(resume, 'tail')) throw new ReadWholeSource();
  return resume as DecoderState;
}

/** Short hashes by which lines of a parent and its child are compared, and the cut of a revert in the same set. */
import { hash } from 'node:crypto';
import { hash53 } from '../../records/identity.ts';
import type { RolloutLine } from './line.ts';

export const turnKey = (turnId: string): number => hash53(`turn:${turnId}`);

/** In the set where the file has turn ids at all: they decide then, and payloads are not compared. */
export const TURNS_MARK = hash53('has turn ids');

/** By digest of the payload, never its text: payloads are long, and times differ between a line and its copy. */
export const payloadKey = (line: RolloutLine): number =>
  hash53(`payload:${line.type}:${hash('sha256', jsonOf(line), 'hex')}`);

/** Nesting beyond the stack is no reason to fail: such payloads count as one. */
function jsonOf({ payload }: RolloutLine): string {
  try {
    return JSON.stringify(payload);
  } catch {
    return 'too deep';
  }
}

/**
 * A revert says of the earlier files of its thread: inactive from this ordinal on. It travels in the set of keys as a
 * negative number, which no hash is.
 */
export const cutKey = (endOrdinalExclusive: number): number => -1 - endOrdinalExclusive;

/** The lowest cut in a set of keys; null where there is none. */
export function lowestCut(keys: Iterable<number>): number | null {
  let cut: number | null = null;
  for (const key of keys) if (key < 0 && (cut === null || -1 - key < cut)) cut = -1 - key;
  return cut;
}

/** Place of an event that is told at the end of the log: the order of its lines is not that of events. */
import type { Position } from '../../framing/frame.ts';
import type { EventAt } from '../agent.ts';
import { eventAt } from '../dialects/rows.ts';
import type { Envelope } from './envelope.ts';

export interface Held {
  readonly envelope: Envelope;
  readonly position: Position;
  /** Number of the envelope in its line. */
  readonly child: number;
}

/** By number; what has none comes last, as it stands. */
export const inOrder = (a: Held, b: Held): number => {
  const [x, y] = [a.envelope.sequence ?? Number.POSITIVE_INFINITY, b.envelope.sequence ?? Number.POSITIVE_INFINITY];
  return x === y ? a.position.ordinal - b.position.ordinal || a.child - b.child : x - y;
};

/** Several envelopes may share a line: without an id, their number tells them apart. */
export const placeOf = (sessionId: string, { envelope, position, child }: Held, slot: string): EventAt =>
  eventAt(
    sessionId,
    envelope.id,
    envelope.id === null && child > 0 ? `${slot}:${child}` : slot,
    position,
    envelope.time,
  );

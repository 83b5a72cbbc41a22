/** What of a log must be known before its first event is told. */
import type { Frame } from '../../framing/frame.ts';
import { objectOf } from '../dialects/frames.ts';
import { type Json, nameField, objectField, stringField } from '../dialects/json.ts';

export interface LogOutline {
  /** Whether the log holds receipts of single requests: then totals before them are older runs. */
  readonly hasReceipts: boolean;
  /** Turns in which a message carries its reasoning: events of reasoning repeat it there. */
  readonly reasoned: ReadonlySet<string>;
}

export const dataOf = (event: Json): Json => objectField(event, 'data') ?? {};

/** Turns are numbered anew in each run and interaction; the number of the `turn_start` in the file names them all. */
export class TurnCounter {
  private turns = 0;

  /** The turn that an event of this type stands in. */
  at(type: string): string {
    if (type === 'assistant.turn_start' || type === 'user.message') this.turns++;
    return String(this.turns);
  }
}

export function readOutline(frames: Iterable<Frame>): LogOutline {
  const turns = new TurnCounter();
  const reasoned = new Set<string>();
  let hasReceipts = false;
  for (const frame of frames) {
    const event = objectOf(frame);
    if (event === null) continue;
    const type = stringField(event, 'type') ?? '';
    const turn = turns.at(type);
    if (type === 'session.usage_record') hasReceipts = true;
    else if (type === 'assistant.message' && nameField(dataOf(event), 'reasoningText') !== null) reasoned.add(turn);
  }
  return { hasReceipts, reasoned };
}

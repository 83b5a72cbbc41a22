/** What the first lines need to know of the last ones: what was rewound, and where calls and turns come to their end. */
import type { Frame } from '../../framing/frame.ts';
import { objectOf } from '../dialects/frames.ts';
import { numberField, objectField } from '../dialects/json.ts';
import { isHostTurn, isToolLine, promptId, promptIndex, readUpdate, toolId, type Update, UserRuns } from './update.ts';

export interface JournalOutline {
  /** Lines that a rewind took back: from the first of each pair to before the second. */
  readonly dead: readonly (readonly [number, number])[];
  /** The last line of each call. */
  readonly lastOfCall: ReadonlyMap<string, number>;
  /** The last ledger of each prompt. */
  readonly lastOfPrompt: ReadonlyMap<string, number>;
}

/** A prompt on the live branch. */
interface Prompt {
  readonly start: number;
  /** Whether prompts before it were numbered. */
  readonly wasNumbered: boolean;
}

export function readOutline(frames: Iterable<Frame>): JournalOutline {
  const dead: [number, number][] = [];
  const lastOfCall = new Map<string, number>();
  const lastOfPrompt = new Map<string, number>();
  const runs = new UserRuns();
  const prompts: Prompt[] = [];
  let isNumbered = false;
  for (const frame of frames) {
    const record = objectOf(frame);
    const update = record === null ? null : readUpdate(record);
    if (runs.begins(update) && update !== null && !isHostTurn(update)) {
      // Interjections have no number, once prompts have.
      if (promptIndex(update) !== null || !isNumbered) prompts.push({ start: frame.ordinal, wasNumbered: isNumbered });
      isNumbered ||= promptIndex(update) !== null;
    }
    if (update === null) continue;
    note(update, frame.ordinal, lastOfCall, lastOfPrompt);
    const target = update.kind === 'rewind_marker' ? numberField(update.update, 'target_prompt_index') : null;
    const first = target === null ? undefined : prompts[target];
    if (first !== undefined) {
      dead.push([first.start, frame.ordinal]);
      prompts.length = target!;
      isNumbered = first.wasNumbered;
    }
  }
  return { dead, lastOfCall, lastOfPrompt };
}

function note(
  update: Update,
  ordinal: number,
  lastOfCall: Map<string, number>,
  lastOfPrompt: Map<string, number>,
): void {
  const call = isToolLine(update) ? toolId(update) : null;
  if (call !== null) lastOfCall.set(call, ordinal);
  const isLedger = update.kind === 'turn_completed' && objectField(update.update, 'usage') !== null;
  const prompt = isLedger ? promptId(update) : null;
  if (prompt !== null) lastOfPrompt.set(prompt, ordinal);
}

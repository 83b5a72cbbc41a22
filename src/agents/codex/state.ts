/** What a decoder saves at the end of the bytes it has read, to go on from there when the file has grown. */
import { ReadWholeSource } from '../agent.ts';
import { asObject, field } from './guards.ts';
import type { Header } from './header.ts';
import type { InheritanceState } from './inherited.ts';
import type { CountMemory } from './usage.ts';

const STATE_VERSION = 1;

/** JSON-able, and of a size that does not grow with the file. */
export interface RolloutState {
  readonly version: typeof STATE_VERSION;
  /** Well-formed lines read, up to 2: the first two say what the file is. */
  readonly lines: number;
  readonly header: Header | null;
  /** Whether the header was read from a line, not made up from the file name. */
  readonly hasHeader: boolean;
  readonly secondId: string | null;
  readonly secondHasOrdinal: boolean;
  readonly inheritance: InheritanceState | null;
  readonly ownModel: string | null;
  readonly inheritedModel: string | null;
  readonly serviceTier: string | null;
  readonly counts: CountMemory;
  /** Whether `token_count` lines were told as usage. */
  readonly toldCounts: boolean;
  readonly hasRecords: boolean;
  readonly hasMessages: boolean;
  /** Whether mirror events were told as messages. */
  readonly toldMirrors: boolean;
  readonly activePrompts: number;
  /** Ordinal of the last line that carries one, and the greatest of all. */
  readonly lastOrdinal: number | null;
  readonly greatestOrdinal: number;
  /** Ordinal from which a later file of the thread takes this one back. */
  readonly cut: number | null;
  readonly threadName: string | null;
  readonly bareCwd: string | null;
  /** Whether the last item was reasoning that cannot be read. */
  readonly blankReasoning: boolean;
}

/** A saved state; null at a start from the top. One of another version cannot be gone on from. */
export function stateOf(resume: unknown): RolloutState | null {
  if (resume === null || resume === undefined) return null;
  const state = asObject(resume);
  if (state === null || field(state, 'version') !== STATE_VERSION) throw new ReadWholeSource();
  return resume as RolloutState;
}

export const stateVersion = STATE_VERSION;

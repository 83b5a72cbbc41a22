/** What a decoder knows at a point of its file; saved, it goes on from there when the file has grown. */
import { ReadWholeSource } from '../agent.ts';
import { asObject, field } from './guards.ts';
import type { Header } from './header.ts';
import type { InheritanceState } from './inherited.ts';
import type { CountMemory } from './usage.ts';

const STATE_VERSION = 1;

/** JSON-able, and of a size that does not grow with the file. */
export interface RolloutState {
  readonly version: number;
  /** Well-formed lines read, up to 2: the first two say what the file is. */
  lines: number;
  header: Header | null;
  /** Whether the header was read from a line, not made up from the file name. */
  hasHeader: boolean;
  /** Id of a `session_meta` directly after the header, and whether that line has an ordinal. */
  secondId: string | null;
  secondHasOrdinal: boolean;
  /** Null until the second line. */
  inheritance: InheritanceState | null;
  ownModel: string | null;
  inheritedModel: string | null;
  serviceTier: string | null;
  counts: CountMemory;
  /** Whether `token_count` lines were told as usage. */
  toldCounts: boolean;
  /** Whether usage records have begun. */
  hasRecords: boolean;
  /** Whether a message stands in a response item; if not, whether mirror events were told as messages. */
  hasMessages: boolean;
  toldMirrors: boolean;
  /** Typed messages that no rollback has taken back. */
  activePrompts: number;
  /** Ordinal of the last line that carries one, and the greatest of all. */
  lastOrdinal: number | null;
  greatestOrdinal: number;
  /** Ordinal from which a later file of the thread takes this one back. */
  cut: number | null;
  threadName: string | null;
  /** From the environment message of a bare rollout. */
  bareCwd: string | null;
  /** Whether the last item was reasoning that cannot be read. */
  blankReasoning: boolean;
}

export const startState = (): RolloutState => ({
  version: STATE_VERSION,
  lines: 0,
  header: null,
  hasHeader: false,
  secondId: null,
  secondHasOrdinal: false,
  inheritance: null,
  ownModel: null,
  inheritedModel: null,
  serviceTier: null,
  counts: { total: null, last: null },
  toldCounts: false,
  hasRecords: false,
  hasMessages: false,
  toldMirrors: false,
  activePrompts: 0,
  lastOrdinal: null,
  greatestOrdinal: -1,
  cut: null,
  threadName: null,
  bareCwd: null,
  blankReasoning: false,
});

/** A copy of a saved state; null at a start from the top. One of another version cannot be gone on from. */
export function stateOf(resume: unknown): RolloutState | null {
  if (resume === null || resume === undefined) return null;
  const state = asObject(resume);
  if (state === null || field(state, 'version') !== STATE_VERSION) throw new ReadWholeSource();
  return structuredClone(resume) as RolloutState;
}

/**
 * Which lines of a rollout are copied history of another thread. A fork or a spawned child opens with its own header, a
 * copy of the parent's, and then parent lines; timestamps prove nothing about them (copies are re-stamped in some
 * versions, kept in others). The first rule that applies decides:
 *
 * 1. `history_base` in the header: nothing is copied.
 * 2. `subagent_history_start_ordinal` N and a second header: lines with an ordinal below N are copies.
 * 3. A second header of the parent: copies until the first turn that the parent's file does not hold, or, where there
 *    are no turn ids, the first payload that it does not hold.
 * 4. Turns whose id begins `external-import-turn-`: history of another agent.
 * 5. Otherwise nothing is copied.
 */
import { parseIsoTime } from '../dialects/clock.ts';
import { stringField } from './guards.ts';
import type { Header } from './header.ts';
import { payloadKey, TURNS_MARK, turnKey } from './keys.ts';
import { opensTurn, type RolloutLine, turnIdOf } from './line.ts';
import { FAT_LINES } from './types.ts';

/**
 * How copies are told from own lines. `orphan`: by rule 3, but the parent's file is missing, so that nothing can be
 * proved.
 */
export type InheritanceRule = 'none' | 'base' | 'ordinals' | 'turns' | 'payloads' | 'orphan';

/**
 * What a line is to its file: `own`; a `copy`; or, in a fork whose parent is gone, `unproven`: kept as own, but its
 * token totals are only a baseline.
 */
export type Standing = 'own' | 'copy' | 'unproven';

export interface InheritanceFacts {
  readonly header: Header;
  /** Id of a `session_meta` directly after the header; null where another line follows. */
  readonly secondId: string | null;
  /** Ordinal of the file's last line; null where lines have none. */
  readonly lastOrdinal: number | null;
  readonly foundParent: boolean;
  readonly parentKeys: ReadonlySet<number>;
}

/** Says which of the rules 1 to 3 a file is read by; rule 4 applies besides (but for `base`). */
export function inheritanceRule(facts: InheritanceFacts): InheritanceRule {
  const { header, secondId, lastOrdinal } = facts;
  if (header.base !== null) return 'base';
  if (secondId === null || secondId === header.id) return 'none';
  // Some threads (guardian) carry the length of their file as N: no line has it, so that it bounds nothing.
  if (header.historyStart !== null && lastOrdinal !== null && header.historyStart <= lastOrdinal) return 'ordinals';
  const declared = header.declaredParents;
  if (declared.length > 0 && !declared.includes(secondId)) return 'none';
  if (facts.foundParent) return facts.parentKeys.has(TURNS_MARK) ? 'turns' : 'payloads';
  // Headers of older forks name no parent: without its file nothing says that they are forks.
  return declared.length > 0 ? 'orphan' : 'none';
}

const IMPORTED_TURN = 'external-import-turn-';
/** Copies of an orphan are written in one go; a person who goes on with the fork takes longer than this. */
const PAUSE_MS = 1000;

/** Milliseconds in a UUIDv7; null for other ids. */
const uuidTime = (id: string): number | null =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/i.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : null;

/** JSON-able part of an `Inheritance`. */
export interface InheritanceState {
  rule: InheritanceRule;
  /** Inside the copied region (rules 2 and 3). */
  inside: boolean;
  /** Inside an imported turn (rule 4). */
  importing: boolean;
  /** Orphans: time of the line before, and whether a turn was seen since the header. */
  before: number | null;
  sawTurn: boolean;
}

export const startInheritance = (rule: InheritanceRule): InheritanceState => ({
  rule,
  inside: rule !== 'none' && rule !== 'base',
  importing: false,
  before: null,
  sawTurn: false,
});

/** Walks the lines after the header and says of each what it is. */
export class Inheritance {
  readonly state: InheritanceState;
  readonly #header: Header;
  readonly #parentKeys: ReadonlySet<number>;

  constructor(state: InheritanceState, header: Header, parentKeys: ReadonlySet<number>) {
    this.state = state;
    this.#header = header;
    this.#parentKeys = parentKeys;
  }

  /** While true, lines that carry no rows must be shown too: any of them can end the copied region. */
  get needsEveryLine(): boolean {
    return this.state.inside && (this.state.rule === 'payloads' || this.state.rule === 'orphan');
  }

  place(line: RolloutLine): Standing {
    const { state } = this;
    if (state.rule === 'ordinals') this.pass(line.ordinal);
    else if (state.inside && this.#isOwn(line)) {
      state.inside = false;
      state.importing = false;
    }
    if (opensTurn(line) && state.rule !== 'base') {
      const turn = turnIdOf(line);
      if (turn !== null) state.importing = turn.startsWith(IMPORTED_TURN);
    }
    return this.standing;
  }

  /** What the line was that was placed or passed last. */
  get standing(): Standing {
    const { state } = this;
    if (state.importing) return 'copy';
    if (!state.inside) return 'own';
    return state.rule === 'orphan' ? 'unproven' : 'copy';
  }

  /** Inside a region that the next turn may end. */
  get awaitsTurn(): boolean {
    return this.state.inside && this.state.rule !== 'ordinals';
  }

  /** Passes a line of which only the ordinal is known. A line without one is what the line before it was. */
  pass(ordinal: number | null): void {
    if (this.state.rule === 'ordinals' && ordinal !== null)
      this.state.inside = ordinal < (this.#header.historyStart ?? 0);
  }

  /** Whether a line within the copied region is the first own one. */
  #isOwn(line: RolloutLine): boolean {
    // Headers of the ancestors follow each other, and the context is too big to compare: neither decides.
    if (line.type === 'session_meta' || FAT_LINES.has(line.type)) return false;
    const turn = turnIdOf(line);
    switch (this.state.rule) {
      case 'turns':
        return turn !== null && !this.#parentKeys.has(turnKey(turn));
      case 'payloads':
        return !this.#parentKeys.has(payloadKey(line));
      default:
        return this.#isOwnOfOrphan(line, turn);
    }
  }

  /**
   * Without the parent's file a line is own from the first sign on that this thread wrote it: its id on an event, a turn
   * id made after the thread's own id (UUIDv7), or, failing those, a turn begun after a pause. A line older than the
   * thread is no sign.
   */
  #isOwnOfOrphan(line: RolloutLine, turn: string | null): boolean {
    const { state } = this;
    const time = parseIsoTime(line.timestampText);
    const before = state.before;
    state.before = time ?? before;
    if (turn !== null) state.sawTurn = true;
    if (stringField(line.payload, 'thread_id') === this.#header.id) return true;
    const turnTime = turn === null ? null : uuidTime(turn);
    const threadTime = uuidTime(this.#header.id);
    if (turnTime !== null && threadTime !== null) return turnTime >= threadTime;
    if (turn === null && state.sawTurn) return false;
    const created = this.#header.createdAt;
    if (time === null || (created !== null && time < created)) return false;
    return before !== null && time - before > PAUSE_MS;
  }
}

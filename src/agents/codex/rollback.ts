/**
 * Rows that a rollback took back. `thread_rolled_back {num_turns: n}` makes everything inactive from the n-th last typed
 * user message on that was still active; more turns than there are go back to the first one, and none change nothing.
 */
import { ReadWholeSource } from '../agent.ts';

/** Records `[from, to)` of a source that are no longer part of the thread. */
export type Span = readonly [from: number, to: number];

export class RollbackLog {
  readonly #spans: [number, number][] = [];
  /** Ordinals of active typed messages, in order. */
  readonly #typed: number[] = [];
  /** Active typed messages in the part of the source that was told before. */
  readonly #earlier: number;

  constructor(earlier: number) {
    this.#earlier = earlier;
  }

  /** Typed messages that are active at this point. */
  get active(): number {
    return this.#earlier + this.#typed.length;
  }

  typed(ordinal: number): void {
    this.#typed.push(ordinal);
  }

  rollBack(turns: number, ordinal: number): void {
    if (turns < 1 || this.active === 0) return;
    const first = this.#typed[Math.max(0, this.#typed.length - turns)];
    // What was told before would change.
    if (this.#earlier > 0 && turns > this.#typed.length) throw new ReadWholeSource();
    if (first === undefined) return;
    this.#typed.length = Math.max(0, this.#typed.length - turns);
    while ((this.#spans.at(-1)?.[0] ?? -1) >= first) this.#spans.pop();
    this.#spans.push([first, ordinal]);
  }

  /** In order and apart from each other. */
  get spans(): readonly Span[] {
    return this.#spans;
  }
}

/** Whether records, asked for in rising order, lie in one of the spans. */
export class SpanCursor {
  readonly #spans: readonly Span[];
  #at = 0;

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  holds(ordinal: number): boolean {
    while (this.#at < this.#spans.length && (this.#spans[this.#at]?.[1] ?? 0) <= ordinal) this.#at++;
    const span = this.#spans[this.#at];
    return span !== undefined && span[0] <= ordinal;
  }
}

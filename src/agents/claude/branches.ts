/**
 * The tree that `parentUuid` spans over the rows of a file, and which of its rows are on the live branch. Columns in
 * typed arrays: no object per row.
 */
import { ReadWholeSource } from '../agent.ts';
import { grown, IdTable } from './id-table.ts';
import { BEFORE, ROOT, type Tail, WINDOW } from './tail.ts';

/** Facts of a row, as bits. */
export const SIDECHAIN = 1;
/** May become a message. */
export const MESSAGE = 2;
/** Carries tool results: parallel calls hang them on different rows of a reply, which is no branch. */
export const RESULT = 4;
/** May be the row that the next one follows. `progress` rows are written late, on old parents: they may not. */
export const LEAF = 8;
export const FORKED = 16;
/** A later row of the same uuid carries `forkedFrom`. */
export const FORKED_TWIN = 32;

export class RowTree {
  readonly table = new IdTable();
  /** By number of the row in `table`. */
  ordinals = new Int32Array(64);
  parents = new Int32Array(64);
  flags = new Uint8Array(64);
  /** Number of the row's reply; -1 = none. */
  replies = new Int32Array(64);
  /** The row that the next one follows if nothing is rewound. */
  leaf = ROOT;
  /** Rows before this number are those of a saved window. */
  private readonly floor: number;
  /** Rows of the file before the first one here. */
  private readonly hidden: number;
  private readonly saved: Tail | null;

  /** Goes on from the saved end of a file. `replyOf` numbers the replies of the window. */
  constructor(saved: Tail | null, replyOf: (key: number) => number) {
    this.saved = saved;
    this.floor = saved?.window.ids.length ?? 0;
    this.hidden = saved === null ? 0 : saved.rows - this.floor;
    if (saved === null) return;
    const { ids, parents, flags, replies } = saved.window;
    for (let i = 0; i < ids.length; i++) {
      const reply = replies[i]!;
      this.add(ids[i]!, -1, parents[i]!, flags[i]!, reply === 0 ? -1 : replyOf(reply));
    }
    this.leaf = saved.leaf;
  }

  get size(): number {
    return this.table.size;
  }

  /** Whether all rows of the file so far are here. */
  get isWhole(): boolean {
    return this.hidden === 0;
  }

  isSaved(index: number): boolean {
    return index < this.floor;
  }

  /** Adds a row whose id is new. */
  add(id: number, ordinal: number, parent: number, flags: number, reply: number): void {
    const index = this.table.add(id);
    if (index === this.ordinals.length) {
      this.ordinals = grown(this.ordinals);
      this.parents = grown(this.parents);
      this.flags = grown(this.flags);
      this.replies = grown(this.replies);
    }
    this.ordinals[index] = ordinal;
    this.parents[index] = parent;
    this.flags[index] = flags;
    this.replies[index] = reply;
    if ((flags & LEAF) !== 0 && (flags & SIDECHAIN) === 0) this.leaf = index;
  }

  /** Ordinals of rows with these flags, of which `without` are not set. */
  ordinalsWith(wanted: number, without: number): Int32Array {
    const found: number[] = [];
    for (let i = this.floor; i < this.size; i++) {
      if ((this.flags[i]! & (wanted | without)) === wanted) found.push(this.ordinals[i]!);
    }
    return Int32Array.from(found);
  }

  /**
   * Walks from `leaf` to the root and says of each row whether it is on the way, and whether it is live. Throws
   * `ReadWholeSource` where that changes what was said of a row that was read before, or cannot be told.
   */
  resolve(leaf: number, replyCount: number): Activity {
    const onPath = new Uint8Array(this.size);
    if (this.saved !== null && leaf === this.saved.leaf) {
      // Only sidechains grew.
      onPath.set(this.saved.window.onPath);
      return { onPath, active: this.spread(onPath, replyCount) };
    }
    const end = this.walk(leaf, onPath);
    const active = this.spread(onPath, replyCount);
    if (this.saved !== null) this.checkSaved(this.saved, end, active);
    return { onPath, active };
  }

  /** Marks the way from the leaf; returns where it ended: a saved row that was on the old way, `ROOT` or `BEFORE`. */
  private walk(leaf: number, onPath: Uint8Array): number {
    const old = this.saved?.window.onPath ?? [];
    let index = leaf;
    while (index >= 0) {
      if (old[index] === 1) {
        // From here on the way is the old one.
        for (let i = 0; i <= index; i++) onPath[i] = old[i]!;
        return index;
      }
      onPath[index] = 1;
      index = this.parents[index]!;
    }
    return index;
  }

  /**
   * Rows off the way that are live all the same: sidechains, rows of a reply of which one row is on the way, and tool
   * results of such rows.
   */
  private spread(onPath: Uint8Array, replyCount: number): Uint8Array {
    const liveReplies = new Uint8Array(replyCount);
    for (let i = 0; i < this.size; i++)
      if (onPath[i] === 1 && this.replies[i] !== -1) liveReplies[this.replies[i]!] = 1;
    const active = new Uint8Array(this.size);
    const window = this.saved?.window;
    for (let i = 0; i < this.size; i++) {
      const flags = this.flags[i]!;
      const reply = this.replies[i]!;
      const parent = this.parents[i]!;
      const isLive =
        onPath[i] === 1 ||
        // Why a row off the old way was live may be out of sight.
        (window?.active[i] === 1 && window.onPath[i] === 0) ||
        (flags & SIDECHAIN) !== 0 ||
        (reply !== -1 && liveReplies[reply] === 1) ||
        ((flags & RESULT) !== 0 && parent >= 0 && active[parent] === 1);
      if (isLive) active[i] = 1;
    }
    return active;
  }

  private checkSaved({ window }: Tail, end: number, active: Uint8Array): void {
    // Rows out of sight were on the old way, and the new one does not reach them.
    if (end === BEFORE || (end === ROOT && !this.isWhole)) throw new ReadWholeSource();
    for (let i = 0; i < this.floor; i++) {
      if ((this.flags[i]! & MESSAGE) !== 0 && window.active[i] !== active[i]) throw new ReadWholeSource();
    }
  }

  /** The last rows, for a later read to go on from. */
  window(activity: Activity, replyKey: (reply: number) => number): Tail['window'] {
    const start = Math.max(0, this.size - WINDOW);
    const indexes = Array.from({ length: this.size - start }, (_, i) => start + i);
    const within = (parent: number): number => (parent < 0 ? parent : parent < start ? BEFORE : parent - start);
    return {
      ids: indexes.map((i) => this.table.keys[i]!),
      parents: indexes.map((i) => within(this.parents[i]!)),
      flags: indexes.map((i) => this.flags[i]!),
      replies: indexes.map((i) => (this.replies[i] === -1 ? 0 : replyKey(this.replies[i]!))),
      onPath: indexes.map((i) => activity.onPath[i]!),
      active: indexes.map((i) => activity.active[i]!),
    };
  }

  /** Index in the window of a row. */
  inWindow(index: number): number {
    const start = Math.max(0, this.size - WINDOW);
    return index < 0 ? index : index < start ? BEFORE : index - start;
  }
}

/** One byte a row: 1 = yes. */
export interface Activity {
  readonly onPath: Uint8Array;
  readonly active: Uint8Array;
}

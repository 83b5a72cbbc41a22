/** Which replies a file holds, and where their rows are: for telling when one is complete. */
import { ReadWholeSource } from '../agent.ts';
import { grown, IdTable } from './id-table.ts';
import { packKeys, type Tail, unpackKeys } from './tail.ts';

/** No reply is open, or one without an id, to which no further row can belong. */
const NONE = -1;

export class ReplyLedger {
  private readonly table = new IdTable();
  /** By number of the reply in `table`. */
  private lastOrdinals = new Int32Array(64);
  /** `hash53` of the first request id; 0 = none so far. */
  private requests = new Float64Array(64);
  /** Whether a row of the reply is, by its own look, not native: then another request id is no other reply. */
  private copied = new Uint8Array(64);
  private current = NONE;
  private readonly mixed = new Set<number>();
  /** Replies before this number were closed when the file was last read. */
  private readonly savedReplies: number;
  /** Low halves of the keys of all replies closed then. */
  private readonly savedKeys: ReadonlySet<number>;
  private readonly savedOpen: number;

  constructor(saved: Tail | null) {
    this.savedKeys = new Set(saved === null ? [] : unpackKeys(saved.closed));
    this.savedOpen = saved?.open?.key ?? 0;
    for (const key of saved?.window.replies ?? []) if (key !== 0) this.enter(key);
    if (saved?.open) {
      const { key, request, copied } = saved.open;
      this.current = this.enter(key);
      this.requests[this.current] = request;
      this.copied[this.current] = copied ? 1 : 0;
    }
    this.savedReplies = this.table.size;
  }

  get size(): number {
    return this.table.size;
  }

  keyOf(reply: number): number {
    return this.table.keys[reply]!;
  }

  /** Number of a reply of the saved window. */
  numberOfSaved(key: number): number {
    return this.table.find(key);
  }

  /** Whether a row with this message id belongs to another reply than the one that has the id: gateways reuse ids. */
  isOther(key: number, request: number, copied: boolean): boolean {
    const known = this.table.find(key);
    if (known === -1 || copied || request === 0 || this.copied[known] === 1) return false;
    return this.requests[known] !== 0 && this.requests[known] !== request;
  }

  /** Adds a row to its reply, whose number is returned. Throws `ReadWholeSource` where that reply was closed before. */
  add(key: number, request: number, copied: boolean, ordinal: number): number {
    const known = this.table.find(key);
    const wasClosed = known === -1 ? this.savedKeys.has(key % 4294967296) : known < this.savedReplies;
    if (wasClosed && key !== this.savedOpen) throw new ReadWholeSource();
    const reply = known === -1 ? this.enter(key) : known;
    if (known !== -1 && reply !== this.current) this.mixed.add(reply);
    if (this.requests[reply] === 0) this.requests[reply] = request;
    if (copied) this.copied[reply] = 1;
    this.lastOrdinals[reply] = ordinal;
    this.current = reply;
    return reply;
  }

  /** A reply without an id is its one row. */
  addNameless(): void {
    this.current = NONE;
  }

  /** Key -> last ordinal, for replies that go on after rows of others. */
  lastRows(): Map<number, number> {
    return new Map([...this.mixed].map((reply) => [this.keyOf(reply), this.lastOrdinals[reply]!]));
  }

  open(): Tail['open'] {
    const { current } = this;
    if (current === NONE) return null;
    return { key: this.keyOf(current), request: this.requests[current]!, copied: this.copied[current] === 1 };
  }

  closed(): string {
    const keys: number[] = [...this.savedKeys];
    for (let reply = 0; reply < this.size; reply++) {
      if (reply === this.current) continue;
      // Replies of the saved window are among the saved keys, except for the one that was still open.
      if (reply >= this.savedReplies || this.keyOf(reply) === this.savedOpen) keys.push(this.keyOf(reply));
    }
    return packKeys(keys);
  }

  private enter(key: number): number {
    const reply = this.table.add(key);
    if (reply === this.lastOrdinals.length) {
      this.lastOrdinals = grown(this.lastOrdinals);
      this.requests = grown(this.requests);
      this.copied = grown(this.copied);
    }
    return reply;
  }
}

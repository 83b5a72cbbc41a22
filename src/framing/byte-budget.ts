/** One budget of bytes for all workers together: large items wait for room, and one is always admitted. */

const UNIT = 1024 * 1024;
/** Slots of the shared array. */
const USED = 0;
const LIMIT = 1;

export class ByteBudget {
  readonly shared: Int32Array<SharedArrayBuffer>;

  private constructor(shared: Int32Array<SharedArrayBuffer>) {
    this.shared = shared;
  }

  /** `bytes` is what all items together may hold. */
  static create(bytes: number): ByteBudget {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    shared[LIMIT] = Math.max(1, Math.floor(bytes / UNIT));
    return new ByteBudget(shared);
  }

  /** The same budget in another thread, from its `shared` array. */
  static attach(shared: Int32Array<SharedArrayBuffer>): ByteBudget {
    return new ByteBudget(shared);
  }

  /** Runs `work` while it holds `bytes` of the budget; blocks the thread until there is room. Not re-entrant. */
  during<T>(bytes: number, work: () => T): T {
    const units = Math.ceil(bytes / UNIT);
    this.acquire(units);
    try {
      return work();
    } finally {
      Atomics.sub(this.shared, USED, units);
      Atomics.notify(this.shared, USED);
    }
  }

  private acquire(units: number): void {
    const limit = this.shared[LIMIT]!;
    for (;;) {
      const used = Atomics.load(this.shared, USED);
      // An item larger than the whole budget passes when nothing else is held: it must not starve.
      if (used === 0 || used + units <= limit) {
        if (Atomics.compareExchange(this.shared, USED, used, used + units) === used) return;
      } else {
        Atomics.wait(this.shared, USED, used, 1000);
      }
    }
  }
}

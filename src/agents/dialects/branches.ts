/** Records that point at the one before them: which of them are on the live branch. */

/** What a tree says when it is whole. */
export interface Branch {
  /** Ids from the leaf up to the root. */
  readonly live: ReadonlySet<string>;
  /** Ids that were referred to and are not there; a loop counts as one. */
  readonly isBroken: boolean;
}

/** Grows record by record; ids are short by nature. */
export class RecordTree {
  private readonly parents = new Map<string, string | null>();
  private leaf: string | null = null;

  /** A later record of the same id stands for it from then on. `isLeaf`: it may be the end of the conversation. */
  add(id: string, parent: string | null, isLeaf = true): void {
    this.parents.set(id, parent);
    if (isLeaf) this.leaf = id;
  }

  /** A record that is there already is the latest of the conversation again. */
  touch(id: string): void {
    this.leaf = id;
  }

  has(id: string): boolean {
    return this.parents.has(id);
  }

  parentOf(id: string): string | null {
    return this.parents.get(id) ?? null;
  }

  get size(): number {
    return this.parents.size;
  }

  /** The branch that ends in `leaf`, or in the last record. */
  branch(leaf: string | null = this.leaf): Branch {
    const live = new Set<string>();
    let at = leaf;
    while (at !== null) {
      if (live.has(at) || !this.parents.has(at)) return { live, isBroken: true };
      live.add(at);
      at = this.parents.get(at) ?? null;
    }
    return { live, isBroken: false };
  }

  /** Whether every parent is there, and no record is its own ancestor. */
  isWhole(): boolean {
    const safe = new Set<string>();
    for (const id of this.parents.keys()) {
      const path: string[] = [];
      let at: string | null = id;
      while (at !== null && !safe.has(at)) {
        if (!this.parents.has(at) || path.length > this.parents.size) return false;
        path.push(at);
        at = this.parents.get(at) ?? null;
      }
      for (const step of path) safe.add(step);
    }
    return true;
  }
}

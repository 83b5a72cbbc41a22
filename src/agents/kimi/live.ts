/** What the model of a Kimi Code session has before it: which rows an undo takes back. */

export interface Entry {
  readonly kind: 'typed' | 'injection' | 'summary' | 'other';
  readonly id: string | null;
  /** Of an injection: the message that it was made for. */
  readonly owner: string | null;
  /** Calls of a reply that wait for their answers. */
  readonly calls: readonly string[];
  isActive: boolean;
}

export class LiveContext {
  private entries: Entry[] = [];

  add(entry: Entry): void {
    this.entries.push(entry);
  }

  remove(entry: Entry): void {
    const at = this.entries.lastIndexOf(entry);
    if (at !== -1) this.entries.splice(at, 1);
  }

  /** Earlier rows stay, but no undo passes this. */
  clear(): void {
    this.entries = [];
  }

  /** `tail`: how many entries stand before the summary; null: all. */
  compact(summary: Entry, tail: number | null): void {
    this.entries = [summary, ...(tail === null ? [] : this.entries.slice(tail))];
  }

  /**
   * Takes back the last `count` messages that were typed, and all that followed; nothing where there are not so many.
   * Gives the entries that are gone.
   */
  undo(count: number): readonly Entry[] {
    let left = count;
    let cut = this.entries.length;
    while (left > 0 && cut > 0 && this.entries[cut - 1]!.kind !== 'summary') {
      cut--;
      if (this.entries[cut]!.kind === 'typed') left--;
    }
    if (left > 0 || count <= 0) return [];
    const { id } = this.entries[cut]!;
    const isOwned = (entry: Entry | undefined): boolean =>
      entry?.kind === 'injection' && id !== null && entry.owner === id;
    while (isOwned(this.entries[cut - 1])) cut--;
    const gone = this.entries.splice(cut);
    for (const entry of gone) entry.isActive = false;
    return gone;
  }
}

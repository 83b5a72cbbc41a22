/** Holds back what comes after a record that will be replaced, so that rows are told in the order of the conversation. */
export class Places {
  private readonly waiting: { readonly last: number | null; run: (() => void) | null }[] = [];

  /** Keeps a place for the record number `last`. */
  reserve(last: number): void {
    this.waiting.push({ last, run: null });
  }

  add(run: () => void): void {
    if (this.waiting.length === 0) run();
    else this.waiting.push({ last: null, run });
  }

  /** Puts the record number `last` where a place was kept for it. */
  fill(last: number, run: () => void): void {
    const place = this.waiting.find((other) => other.last === last);
    if (place === undefined) this.add(run);
    else place.run = run;
    while (this.waiting.length > 0 && this.waiting[0]!.run !== null) this.waiting.shift()!.run!();
  }

  /** Nothing more will come. */
  flush(): void {
    for (const { run } of this.waiting.splice(0)) run?.();
  }
}

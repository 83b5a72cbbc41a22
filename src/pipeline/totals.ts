/** Sums for `sessionlake usage`, gathered without writing rows. */
import { randomBytes } from 'node:crypto';
import type { UsageTally } from '../decoding/emitter.ts';
import { ClaimPacker, DIGEST_BYTES } from '../ledger/batch-ledger.ts';
import { countedColumns } from '../ledger/normalize.ts';
import type { PackedTotals } from './protocol.ts';
import { type UsageCollector, usageDigest, variantTag } from './shard-writer.ts';

const LABEL_SEPARATOR = '\u0000';

/** Days of timestamps in a time zone; formatting is slow, so each UTC quarter of an hour is asked once. */
export class DayOf {
  private readonly format: Intl.DateTimeFormat;
  private readonly known = new Map<number, string>();
  /** Zone rules change at quarters of an hour. */
  private static readonly STEP = 15 * 60 * 1000;

  constructor(timeZone: string) {
    this.format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  }

  /** `YYYY-MM-DD`; empty for null. */
  of(timestamp: number | null): string {
    if (timestamp === null) return '';
    const step = Math.floor(timestamp / DayOf.STEP);
    let day = this.known.get(step);
    if (day === undefined) {
      day = this.format.format(new Date(step * DayOf.STEP));
      this.known.set(step, day);
    }
    return day;
  }
}

export class TotalsCollector implements UsageCollector {
  private readonly packer = new ClaimPacker();
  private readonly day: DayOf;
  private readonly labels = new Map<string, number>();
  private label: number[] = [];
  private counted: number[] = [];
  private last: { agent: string; day: string; model: string | null; index: number } = {
    agent: '',
    day: '',
    model: null,
    index: -1,
  };
  private mark = 0;
  private own = 0;
  /** Tells the replies of one shard from those of all others. */
  private readonly seed = randomBytes(DIGEST_BYTES - 4);

  constructor(timeZone: string) {
    this.day = new DayOf(timeZone);
  }

  add(): void {
    throw new Error('totals are tallied; no rows are made for them');
  }

  tally({ agent, key, variant, native, timestamp, model, counted }: UsageTally): void {
    const digest = key === null ? this.digestOfItsOwn() : usageDigest(agent, key, '');
    this.packer.add(digest, variantTag(variant), native, counted.counted_output_tokens ?? -1);
    this.label.push(this.labelOf(agent, this.day.of(timestamp), model));
    for (const column of countedColumns) this.counted.push(counted[column] ?? Number.NaN);
  }

  /** Number of a label; nearly always that of the reply before. */
  private labelOf(agent: string, day: string, model: string | null): number {
    const { last } = this;
    if (last.agent === agent && last.day === day && last.model === model) return last.index;
    const label = agent + LABEL_SEPARATOR + day + LABEL_SEPARATOR + (model ?? '');
    let index = this.labels.get(label);
    if (index === undefined) {
      index = this.labels.size;
      this.labels.set(label, index);
    }
    this.last = { agent, day, model, index };
    return index;
  }

  /** Of a reply that no other source can hold: shared by nothing, and cheaper than a hash. */
  private digestOfItsOwn(): Uint8Array {
    const digest = Buffer.alloc(DIGEST_BYTES);
    // The part that differs comes first: the ledger's table looks at it.
    digest.writeUInt32LE(this.own++, 0);
    this.seed.copy(digest, 4);
    return digest;
  }

  begin(): void {
    this.mark = this.packer.length;
  }

  drop(): void {
    this.packer.truncate(this.mark);
    this.label.length = this.mark;
    this.counted.length = this.mark * countedColumns.length;
  }

  pack(): PackedTotals {
    return {
      claims: this.packer.pack(),
      labels: [...this.labels.keys()],
      label: Uint32Array.from(this.label),
      counted: Float64Array.from(this.counted),
    };
  }
}

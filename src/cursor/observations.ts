/** The usage ledger that outlives a run: observations and what was posted for them. */
import { hash } from 'node:crypto';
import { type Counted, countedColumns } from '../ledger/normalize.ts';
import { countedOwners } from '../ledger/owners.ts';
import { changesNothing, difference, nothingCounted, sum, takesBack, zeroed } from '../ledger/postings.ts';
import type { UsageRow } from '../records/tables.ts';
import type { Cursor } from './cursor.ts';

export interface Observed {
  readonly row: UsageRow;
  readonly native: boolean;
  readonly variant: string | null;
}

interface ObservationRecord {
  event_id: Buffer;
  native: number;
  variant: string | null;
  output: number;
  row: string;
  posted: string | null;
  posted_row: string | null;
  postings: number;
  retired: number;
}

const countedOf = (row: UsageRow): Counted => {
  const counted = nothingCounted();
  for (const column of countedColumns) counted[column] = row[column];
  return counted;
};

/** What is compared to see whether an observation reads otherwise than when it was posted. */
const contentOf = (row: UsageRow): string =>
  hash('sha1', JSON.stringify({ ...row, ...nothingCounted(), generation: 0, revision: 0 }));

export class ObservationLedger {
  private readonly cursor: Cursor;
  private readonly digest: (row: UsageRow) => Buffer;
  private touched = new Set<string>();

  constructor(cursor: Cursor, digest: (row: UsageRow) => Buffer) {
    this.cursor = cursor;
    this.digest = digest;
  }

  /** Takes what a source shows now. `place` orders sources (their path). */
  observe(observed: readonly Observed[], place: string): void {
    const insert = this.cursor.statement(
      `INSERT INTO observations (event_id, source_id, usage_key, native, variant, output, place, ordinal, row)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (event_id) DO UPDATE SET source_id = excluded.source_id, usage_key = excluded.usage_key,
         native = excluded.native, variant = excluded.variant, output = excluded.output, place = excluded.place,
         ordinal = excluded.ordinal, row = excluded.row, retired = 0`,
    );
    for (const { row, native, variant } of observed) {
      const key = this.digest(row);
      this.touched.add(key.toString('latin1'));
      const output = row.counted_output_tokens ?? -1;
      insert.run(
        Buffer.from(row.event_id, 'hex'),
        row.source_id,
        key,
        native ? 1 : 0,
        variant,
        output,
        place,
        row.ordinal ?? 0,
        JSON.stringify(row),
      );
    }
  }

  /**
   * Takes back what a source showed an earlier decoder and does not show the present one. Only for a new decoder: what a
   * store merely lost was billed all the same.
   */
  retireOthers(sourceId: string, observed: readonly Observed[]): void {
    const told = new Set(observed.map(({ row }) => row.event_id));
    const { cursor } = this;
    const held = cursor
      .statement('SELECT event_id, usage_key FROM observations WHERE source_id = ? AND retired = 0')
      .all(sourceId) as {
      event_id: Buffer;
      usage_key: Buffer;
    }[];
    const retire = cursor.statement('UPDATE observations SET retired = 1 WHERE event_id = ?');
    for (const { event_id, usage_key } of held) {
      if (told.has(event_id.toString('hex'))) continue;
      retire.run(event_id);
      this.touched.add(usage_key.toString('latin1'));
    }
  }

  /** Postings for all keys that were observed since the last call, in order of place: one by one, for there may be very many. */
  *post(): Generator<UsageRow, void, undefined> {
    const { cursor } = this;
    const ofKey = cursor.statement(
      'SELECT event_id, native, variant, output, row, posted, posted_row, postings, retired FROM observations WHERE usage_key = ? ORDER BY place, ordinal, event_id',
    );
    const save = cursor.statement(
      'UPDATE observations SET posted = ?, posted_row = ?, postings = ? WHERE event_id = ?',
    );
    const { touched } = this;
    this.touched = new Set();
    for (const key of touched) {
      const records = ofKey.all(Buffer.from(key, 'latin1')) as ObservationRecord[];
      const alive = records.filter((r) => r.retired === 0);
      const claims = alive.map((r) => ({ native: r.native === 1, variant: r.variant, output: r.output }));
      const owners = new Set((claims.length === 0 ? [] : countedOwners(claims)).map((i) => alive[i]));
      for (const record of records) {
        const row = JSON.parse(record.row) as UsageRow;
        const value = countedOf(row);
        const target = owners.has(record) ? value : zeroed(value);
        const posted = record.posted === null ? nothingCounted() : (JSON.parse(record.posted) as Counted);
        const posting = difference(target, posted);
        const content = contentOf(row);
        if (record.posted !== null && changesNothing(posting) && record.posted_row === content) continue;
        const basis = takesBack(posting) ? 'reversal' : row.basis;
        save.run(JSON.stringify(sum(posted, posting)), content, record.postings + 1, record.event_id);
        yield { ...row, ...posting, basis, revision: record.postings };
      }
    }
  }
}

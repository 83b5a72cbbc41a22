/** The least and the greatest event time of a file's rows, for the manifest. */
import type { TableName } from '../records/tables.ts';
import type { SinkRow } from './sink.ts';

/** Columns that say when something happened; not when it was read. */
const timeColumns = (table: TableName): readonly [string, string] =>
  table === 'sessions' ? ['started_at', 'ended_at'] : ['timestamp', 'timestamp'];

export class TimeRange {
  min: number | null = null;
  max: number | null = null;
  readonly #first: string;
  readonly #last: string;

  constructor(table: TableName) {
    [this.#first, this.#last] = timeColumns(table);
  }

  /** Takes a row whose cells have been checked. */
  see(row: SinkRow): void {
    const first = row[this.#first];
    const last = row[this.#last];
    if (typeof first === 'number') this.#take(first);
    if (last !== first && typeof last === 'number') this.#take(last);
  }

  #take(millis: number): void {
    if (this.min === null || millis < this.min) this.min = millis;
    if (this.max === null || millis > this.max) this.max = millis;
  }
}

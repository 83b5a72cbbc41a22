/** What the columnar formats share: rows are collected in column buffers and written group by group, cut by bytes. */
import type { Column, TableName } from '../records/tables.ts';
import { appendRow, type ColumnBuffer } from './columns.ts';
import { FileOutput } from './file-output.ts';
import { columnsInFile, type SinkFile, type SinkRow, type SinkTarget, type TableSink } from './sink.ts';
import { TimeRange } from './time-range.ts';

type MakeColumn = (table: TableName, column: Column) => ColumnBuffer;

/**
 * Column buffers of closed sinks, for the next sink of the same table in this thread: buffers grow to megabytes, and to
 * grow them anew for every file costs more than filling them.
 */
const idle = new Map<MakeColumn, Map<string, ColumnBuffer[]>>();

function takeColumns(key: string, columns: readonly Column[], table: TableName, make: MakeColumn): ColumnBuffer[] {
  const known = idle.get(make)?.get(key);
  if (known === undefined) return columns.map((column) => make(table, column));
  idle.get(make)!.delete(key);
  return known;
}

function giveColumns(key: string, columns: ColumnBuffer[], make: MakeColumn): void {
  const ofMake = idle.get(make) ?? new Map<string, ColumnBuffer[]>();
  ofMake.set(key, columns);
  idle.set(make, ofMake);
}

export abstract class ColumnarSink implements TableSink {
  rows = 0;
  /** Empty once the sink is closed or aborted: another may have them then. */
  protected columns: ColumnBuffer[];
  readonly #giveBack: (columns: ColumnBuffer[]) => void;
  protected readonly output: FileOutput;
  readonly #names: readonly string[];
  readonly #groupBytes: number;
  readonly #evenEmpty: boolean;
  readonly #range: TimeRange;
  #bytes = 0;

  protected constructor(target: SinkTarget, groupBytes: number, columnBuffer: MakeColumn) {
    const columns = columnsInFile(target);
    const key = [target.table, ...columns.map((column) => column.name)].join(' ');
    this.columns = takeColumns(key, columns, target.table, columnBuffer);
    this.#giveBack = (own) => giveColumns(key, own, columnBuffer);
    this.#names = columns.map((column) => column.name);
    this.#groupBytes = groupBytes;
    this.#evenEmpty = target.evenEmpty ?? false;
    this.#range = new TimeRange(target.table);
    this.output = new FileOutput(target.path, target.sync);
  }

  /** Writes so many rows: all that the columns hold. */
  protected abstract writeGroup(rows: number): void;
  /** Writes what stands at the end of the file. */
  protected abstract writeEnd(): void;

  get bytesBuffered(): number {
    return this.#bytes;
  }

  write(row: SinkRow): void {
    this.#bytes += appendRow(this.columns, this.#names, row);
    this.#range.see(row);
    this.rows++;
    if (this.#bytes >= this.#groupBytes) this.#cut();
  }

  close(): SinkFile | null {
    if (this.rows === 0 && !this.#evenEmpty) {
      this.#release();
      return null;
    }
    if (this.#bytes > 0) this.#cut();
    this.writeEnd();
    const file = this.output.close();
    this.#release();
    return file && { ...file, rows: this.rows, minTimestamp: this.#range.min, maxTimestamp: this.#range.max };
  }

  abort(): void {
    this.output.abort();
    this.#empty();
    this.#release();
  }

  #release(): void {
    if (this.columns.length > 0) this.#giveBack(this.columns);
    this.columns = [];
  }

  #cut(): void {
    this.writeGroup(this.columns[0]!.length);
    this.#empty();
  }

  #empty(): void {
    for (const column of this.columns) column.reset();
    this.#bytes = 0;
  }
}

/** What the columnar formats share: rows are collected in column buffers and written group by group, cut by bytes. */
import type { Column, TableName } from '../records/tables.ts';
import { appendRow, type ColumnBuffer } from './columns.ts';
import { FileOutput } from './file-output.ts';
import { columnsInFile, type SinkFile, type SinkRow, type SinkTarget, type TableSink } from './sink.ts';
import { TimeRange } from './time-range.ts';

export abstract class ColumnarSink implements TableSink {
  rows = 0;
  protected readonly columns: readonly ColumnBuffer[];
  protected readonly output: FileOutput;
  readonly #names: readonly string[];
  readonly #groupBytes: number;
  readonly #range: TimeRange;
  #bytes = 0;

  protected constructor(
    target: SinkTarget,
    groupBytes: number,
    columnBuffer: (table: TableName, column: Column) => ColumnBuffer,
  ) {
    const columns = columnsInFile(target);
    this.columns = columns.map((column) => columnBuffer(target.table, column));
    this.#names = columns.map((column) => column.name);
    this.#groupBytes = groupBytes;
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
    if (this.rows === 0) return null;
    if (this.#bytes > 0) this.#cut();
    this.writeEnd();
    const file = this.output.close();
    return file && { ...file, rows: this.rows, minTimestamp: this.#range.min, maxTimestamp: this.#range.max };
  }

  abort(): void {
    this.output.abort();
    this.#empty();
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

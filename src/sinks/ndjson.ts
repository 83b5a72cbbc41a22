/** NDJSON: one object a line, `record` first, then every column in table order. */
import type { TableName } from '../records/tables.ts';
import { FileOutput, type WrittenFile } from './file-output.ts';
import { NdjsonEncoder } from './ndjson-encoder.ts';
import type { SinkFile, SinkRow, SinkTarget, TableSink } from './sink.ts';
import { TimeRange } from './time-range.ts';

/** Written to disk when this much is encoded. */
const WRITE_BYTES = 1024 * 1024;

const shared = new NdjsonEncoder();

/** One row as an NDJSON line, its line feed included. */
export function encodeNdjsonRow(table: TableName, row: SinkRow): Buffer {
  shared.encode(table, row);
  return shared.take();
}

/** Rows of one table as NDJSON lines. */
export function encodeNdjsonRows(table: TableName, rows: Iterable<SinkRow>): Buffer {
  try {
    for (const row of rows) shared.encode(table, row);
    return shared.take();
  } finally {
    shared.clear();
  }
}

/** An NDJSON file that takes rows of all tables: what a stream is made of. */
export class NdjsonFile {
  rows = 0;
  readonly #encoder: NdjsonEncoder;
  readonly #output: FileOutput;

  constructor(path: string, omit: readonly string[] = [], sync = true) {
    this.#encoder = new NdjsonEncoder(omit);
    this.#output = new FileOutput(path, sync);
  }

  get bytesBuffered(): number {
    return this.#encoder.length;
  }

  write(table: TableName, row: SinkRow): void {
    this.#encoder.encode(table, row);
    this.rows++;
    if (this.#encoder.length >= WRITE_BYTES) this.#flush();
  }

  /** Creates the file now, so that there is one even where no row is taken. */
  create(): void {
    this.#output.create();
  }

  /** Null where no row was taken, and the file not created. */
  close(): WrittenFile | null {
    this.#flush();
    return this.#output.close();
  }

  abort(): void {
    this.#encoder.clear();
    this.#output.abort();
  }

  #flush(): void {
    if (this.#encoder.length === 0) return;
    this.#output.write(this.#encoder.view());
    this.#encoder.clear();
  }
}

/** One table as an NDJSON file. */
export class NdjsonSink implements TableSink {
  readonly #table: TableName;
  readonly #file: NdjsonFile;
  readonly #range: TimeRange;

  readonly #evenEmpty: boolean;

  constructor({ table, path, omit, sync, evenEmpty }: SinkTarget) {
    this.#table = table;
    this.#evenEmpty = evenEmpty ?? false;
    this.#file = new NdjsonFile(path, omit, sync);
    this.#range = new TimeRange(table);
  }

  get rows(): number {
    return this.#file.rows;
  }

  get bytesBuffered(): number {
    return this.#file.bytesBuffered;
  }

  write(row: SinkRow): void {
    this.#file.write(this.#table, row);
    this.#range.see(row);
  }

  close(): SinkFile | null {
    if (this.#evenEmpty) this.#file.create();
    const file = this.#file.close();
    return file && { ...file, rows: this.rows, minTimestamp: this.#range.min, maxTimestamp: this.#range.max };
  }

  abort(): void {
    this.#file.abort();
  }
}

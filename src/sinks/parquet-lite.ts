/**
 * Parquet by parquetjs-lite, for those who ask for it. The library rounds 64-bit integers, keeps every distinct value in
 * a Set and counts row groups in rows; so integers and times are checked here, text goes in as bytes, statistics are
 * off, and pages and row groups are cut by bytes. Slower and larger than the default engine, the same rows for readers.
 */
import parquetjs from 'parquetjs-lite';
import type { Column, TableName } from '../records/tables.ts';
import { CellChecks, CellError, microsOf } from './cells.ts';
import { FileOutput } from './file-output.ts';
import { withUtcTimes } from './parquet-lite-footer.ts';
import {
  columnsInFile,
  DEFAULT_ROW_GROUP_BYTES,
  SCHEMA_VERSION,
  SCHEMA_VERSION_KEY,
  type SinkFile,
  type SinkRow,
  type SinkTarget,
  TABLE_KEY,
  type TableSink,
} from './sink.ts';
import { validUtf8 } from './text.ts';
import { TimeRange } from './time-range.ts';

const { ParquetEnvelopeWriter, ParquetSchema, ParquetWriter } = parquetjs;

/** Bytes of row data after which the pages of all columns end. */
const PAGE_BYTES = 1024 * 1024;
/** Far more rows than a page or row group ever has: the library shall not cut by rows. */
const NEVER = Number.MAX_SAFE_INTEGER;

const primitive = (type: string): parquetjs.FieldDefinition => ({ type, compression: 'GZIP', statistics: false });

function fieldDefinition({ type, nullable }: Column): parquetjs.FieldDefinition {
  switch (type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json':
      return { ...primitive('UTF8'), optional: nullable };
    case 'int':
    case 'timestamp':
      return { ...primitive('INT64'), optional: nullable };
    case 'float':
      return { ...primitive('DOUBLE'), optional: nullable };
    case 'bool':
      return { ...primitive('BOOLEAN'), optional: nullable };
    case 'list':
      return {
        type: 'LIST',
        optional: nullable,
        fields: { list: { repeated: true, fields: { element: { ...primitive('UTF8'), optional: true } } } },
      };
    case 'bytes':
      return { ...primitive('BYTE_ARRAY'), optional: nullable };
  }
}

/** Text as bytes: byte arrays are compared by identity in the library's Set, strings would be hashed by their length. */
const textBytes = (value: string | Uint8Array): Uint8Array =>
  typeof value === 'string' ? Buffer.from(value, 'utf8') : Buffer.from(validUtf8(value));

/** A value as the library takes it, and the bytes it takes. */
function libraryValue(checks: CellChecks, value: unknown): [value: unknown, bytes: number] {
  switch (checks.column.type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json': {
      const bytes = textBytes(checks.text(value));
      return [bytes, bytes.length + 4];
    }
    case 'int':
      return [checks.int(value), 8];
    case 'timestamp': {
      const micros = microsOf(checks.millis(value));
      if (typeof micros === 'number') return [micros, 8];
      throw new CellError(checks.table, checks.column.name, 'parquetjs-lite rounds times before 1684 and after 2255');
    }
    case 'float':
      return [checks.float(value), 8];
    case 'bool':
      return [checks.bool(value), 1];
    case 'list': {
      const list = checks.list(value).map((item) => ({ element: textBytes(item) }));
      return [{ list }, list.reduce((sum, { element }) => sum + element.length + 4, 0)];
    }
    case 'bytes': {
      const bytes = Buffer.from(checks.bytes(value));
      return [bytes, bytes.length + 4];
    }
  }
}

/** One table as a Parquet file, written by parquetjs-lite. */
export class ParquetLiteSink implements TableSink {
  rows = 0;
  readonly #columns: readonly Column[];
  readonly #checks: readonly CellChecks[];
  readonly #envelope: parquetjs.ParquetEnvelopeWriter;
  readonly #writer: parquetjs.ParquetWriter;
  readonly #output: FileOutput;
  readonly #range: TimeRange;
  readonly #rowGroupBytes: number;
  readonly #evenEmpty: boolean;
  #pageBytes = 0;
  #groupBytes = 0;
  #failure: Error | null = null;
  #last: Buffer = Buffer.alloc(0);

  constructor(target: SinkTarget) {
    const { table } = target;
    this.#columns = columnsInFile(target);
    this.#checks = this.#columns.map((column) => new CellChecks(table, column));
    this.#range = new TimeRange(table);
    this.#rowGroupBytes = target.rowGroupBytes ?? DEFAULT_ROW_GROUP_BYTES;
    this.#evenEmpty = target.evenEmpty ?? false;
    this.#output = new FileOutput(target.path, target.sync);
    const schema = new ParquetSchema(
      Object.fromEntries(this.#columns.map((column) => [column.name, fieldDefinition(column)])),
    );
    const write = (bytes: Buffer) => this.#take(bytes);
    this.#envelope = new ParquetEnvelopeWriter(schema, write, () => {}, 0, { pageSize: NEVER, pageIndex: false });
    this.#writer = new ParquetWriter(schema, this.#envelope, { rowGroupSize: NEVER });
    this.#writer.setMetadata(SCHEMA_VERSION_KEY, SCHEMA_VERSION);
    this.#writer.setMetadata(TABLE_KEY, table satisfies TableName);
  }

  get bytesBuffered(): number {
    return this.#groupBytes + this.#pageBytes;
  }

  write(row: SinkRow): void {
    if (this.#failure !== null) throw this.#failure;
    const cells: Record<string, unknown> = {};
    let rowBytes = 0;
    for (const checks of this.#checks) {
      const { name } = checks.column;
      const value = row[name];
      if (value === null || value === undefined) checks.requireNullable();
      else {
        const [cell, bytes] = libraryValue(checks, value);
        cells[name] = cell;
        rowBytes += bytes;
      }
    }
    this.#pageBytes += rowBytes;
    this.#append(cells);
    this.#range.see(row);
    this.rows++;
  }

  /**
   * `appendRow` is declared async but does its work before its first await, if it has no row group to write. So row
   * groups are written here, and a failure, which comes only with the promise, is thrown by the next call.
   */
  #append(cells: Record<string, unknown>): void {
    const endsPage = this.#pageBytes >= PAGE_BYTES || this.#groupBytes + this.#pageBytes >= this.#rowGroupBytes;
    if (endsPage) this.#envelope.setPageSize(1);
    this.#writer.appendRow(cells).catch((error: unknown) => {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    });
    if (!endsPage) return;
    this.#envelope.setPageSize(NEVER);
    this.#groupBytes += this.#pageBytes;
    this.#pageBytes = 0;
    if (this.#groupBytes < this.#rowGroupBytes) return;
    this.#envelope.writeRowGroup(this.#writer.rowBuffer);
    this.#writer.rowBuffer = {};
    this.#groupBytes = 0;
  }

  async close(): Promise<SinkFile | null> {
    // Lets the promises of the last rows be settled
    await Promise.resolve();
    if (this.#failure !== null) throw this.#failure;
    if (this.rows === 0 && !this.#evenEmpty) return null;
    await this.#writer.close();
    // The library refuses times before 1970: as integers they went in, and only the footer calls them times
    const times = this.#columns.filter(({ type }) => type === 'timestamp').map(({ name }) => name);
    this.#output.write(withUtcTimes(this.#last, new Set(times)));
    const file = this.#output.close();
    return file && { ...file, rows: this.rows, minTimestamp: this.#range.min, maxTimestamp: this.#range.max };
  }

  /** Holds back what the library has written last: in the end that is the footer. */
  #take(bytes: Buffer): void {
    this.#output.write(this.#last);
    this.#last = bytes;
  }

  abort(): void {
    this.#output.abort();
    this.#writer.rowBuffer = {};
    this.#pageBytes = 0;
    this.#groupBytes = 0;
  }
}

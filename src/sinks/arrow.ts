/**
 * Arrow IPC, as a file or as a stream. The schema is given, never inferred, and the buffers are built here: the
 * library's builders wrap integers round and turn missing values into empty ones without a word, and take microseconds
 * only as milliseconds. No dictionaries. Record batches are cut by bytes and written at once.
 */
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  Field,
  Float64,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  type TypeMap,
  Utf8,
} from 'apache-arrow';
import type { Column, TableName } from '../records/tables.ts';
import { ColumnarSink } from './columnar-sink.ts';
import {
  BoolColumn,
  type ColumnBuffer,
  FloatColumn,
  IntColumn,
  ListColumn,
  TextColumn,
  TimestampColumn,
} from './columns.ts';
import type { FileOutput } from './file-output.ts';
import {
  columnsInFile,
  DEFAULT_ROW_GROUP_BYTES,
  SCHEMA_VERSION,
  SCHEMA_VERSION_KEY,
  type SinkTarget,
  TABLE_KEY,
} from './sink.ts';

const item = new Field('item', new Utf8(), false);

/** Arrow's type of a column. */
function arrowType(column: Column): DataType {
  switch (column.type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json':
      return new Utf8();
    case 'int':
      return new Int64();
    case 'float':
      return new Float64();
    case 'bool':
      return new Bool();
    case 'timestamp':
      return new TimestampMicrosecond('UTC');
    case 'list':
      return new List(item);
    case 'bytes':
      return new Binary();
  }
}

/** The Arrow schema of a file with these columns. */
export const arrowSchema = (table: TableName, columns: readonly Column[]): Schema =>
  new Schema(
    columns.map((column) => new Field(column.name, arrowType(column), column.nullable)),
    new Map([
      [SCHEMA_VERSION_KEY, SCHEMA_VERSION],
      [TABLE_KEY, table],
    ]),
  );

function columnBuffer(table: TableName, column: Column): ColumnBuffer {
  switch (column.type) {
    case 'key':
    case 'id':
    case 'text':
    case 'json':
    case 'bytes':
      return new TextColumn(table, column);
    case 'int':
      return new IntColumn(table, column);
    case 'timestamp':
      return new TimestampColumn(table, column);
    case 'float':
      return new FloatColumn(table, column);
    case 'bool':
      return new BoolColumn(table, column);
    case 'list':
      return new ListColumn(table, column, new TextColumn(table, { ...column, type: 'key', nullable: false }));
  }
}

/** The column's buffers as Arrow data, without a copy. */
function arrowData(buffer: ColumnBuffer, type: DataType): Data {
  const { length, nullCount } = buffer;
  const nullBitmap = nullCount === 0 ? null : buffer.validity.subarray(0, (length + 7) >> 3);
  const shape = { length, nullCount, nullBitmap };
  if (buffer instanceof TextColumn) {
    const data = buffer.data.bytes.subarray(0, buffer.data.length);
    return makeData({ type: type as Utf8, ...shape, valueOffsets: buffer.offsets.subarray(0, length + 1), data });
  }
  if (buffer instanceof BoolColumn) {
    return makeData({ type: type as Bool, ...shape, data: buffer.values.subarray(0, (length + 7) >> 3) });
  }
  if (buffer instanceof IntColumn) {
    return makeData({ type: type as Int64, ...shape, data: buffer.values.subarray(0, length) });
  }
  if (buffer instanceof FloatColumn) {
    return makeData({ type: type as Float64, ...shape, data: buffer.values.subarray(0, length) });
  }
  if (buffer instanceof ListColumn) {
    const child = arrowData(buffer.items, item.type) as Data<Utf8>;
    return makeData({
      type: type as List<Utf8>,
      ...shape,
      valueOffsets: buffer.offsets.subarray(0, length + 1),
      child,
    });
  }
  throw new Error(`no Arrow data for column ${buffer.column.name}`);
}

type Chunk = ArrayBufferView | ArrayBufferLike;

function writePiece(output: FileOutput, chunk: Chunk): number {
  const view = ArrayBuffer.isView(chunk);
  output.write(view ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : new Uint8Array(chunk));
  return chunk.byteLength;
}

/** The library's writers collect what they write in a queue; these hand every piece to the file at once. */
class FileFormatWriter extends RecordBatchFileWriter<TypeMap> {
  readonly #output: FileOutput;

  constructor(output: FileOutput) {
    super();
    this.#output = output;
  }

  protected override _write(chunk: Chunk): this {
    if (this._started) this._position += writePiece(this.#output, chunk);
    return this;
  }
}

class StreamFormatWriter extends RecordBatchStreamWriter<TypeMap> {
  readonly #output: FileOutput;

  constructor(output: FileOutput) {
    super();
    this.#output = output;
  }

  protected override _write(chunk: Chunk): this {
    if (this._started) this._position += writePiece(this.#output, chunk);
    return this;
  }
}

/** `0xFFFFFFFF`, and a length of 0: what ends a stream. */
const END_BYTES = 8;

/** What stands before and after the record batches of a table's stream: its schema message, and the end mark. */
export function arrowStreamFrame(table: TableName): { readonly head: Uint8Array; readonly end: Uint8Array } {
  const writer = new RecordBatchStreamWriter<TypeMap>();
  writer.reset(undefined, arrowSchema(table, columnsInFile({ table })));
  writer.finish();
  const bytes = writer.toUint8Array(true);
  return { head: bytes.subarray(0, -END_BYTES), end: bytes.subarray(-END_BYTES) };
}

/** One table as an Arrow IPC file or stream. */
export class ArrowSink extends ColumnarSink {
  readonly #schema: Schema;
  readonly #writer: FileFormatWriter | StreamFormatWriter;

  constructor(target: SinkTarget, format: 'file' | 'stream') {
    super(target, (target.rowGroupBytes ?? DEFAULT_ROW_GROUP_BYTES) / 2, columnBuffer);
    this.#schema = arrowSchema(target.table, columnsInFile(target));
    this.#writer = format === 'file' ? new FileFormatWriter(this.output) : new StreamFormatWriter(this.output);
  }

  protected writeGroup(length: number): void {
    const children = this.columns.map((column, i) => arrowData(column, this.#schema.fields[i]!.type));
    const data = makeData({ type: new Struct(this.#schema.fields), length, nullCount: 0, children });
    this.#writer.write(new RecordBatch(this.#schema, data));
  }

  protected writeEnd(): void {
    // The first batch brings the schema with it; where there is none, it is to be said.
    if (this.rows === 0) this.#writer.reset(undefined, this.#schema);
    this.#writer.finish();
  }
}

/**
 * Parquet by hyparquet-writer: ZSTD from node:zlib, dictionaries for columns of few values, statistics where they help
 * a reader to skip row groups. Row groups are cut by bytes and written at once, so that memory stays flat.
 */
import { constants, zstdCompressSync } from 'node:zlib';
import type { ColumnChunk, DecodedArray, RowGroup, SchemaTree } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { writeColumn } from 'hyparquet-writer/src/column.js';
import { encodeNestedValues } from 'hyparquet-writer/src/dremel.js';
import { schemaPathResolver } from 'hyparquet-writer/src/schema.js';
import type { Column, TableName } from '../records/tables.ts';
import { ColumnarSink } from './columnar-sink.ts';
import {
  BoolColumn,
  type ColumnBuffer,
  FloatColumn,
  IntColumn,
  KeyColumn,
  ListColumn,
  TextColumn,
  TimestampColumn,
} from './columns.ts';
import type { FileOutput } from './file-output.ts';
import { isPlain, writePlainColumn } from './parquet-plain.ts';
import { parquetSchema } from './parquet-schema.ts';
import {
  columnsInFile,
  DEFAULT_ROW_GROUP_BYTES,
  SCHEMA_VERSION,
  SCHEMA_VERSION_KEY,
  type SinkTarget,
  TABLE_KEY,
} from './sink.ts';

/** Measured on transcripts: level 1 compresses 1.3 times as fast as level 3, to files some 10 % larger. */
const ZSTD_LEVEL = 1;
/** Uncompressed bytes of a page. */
const PAGE_BYTES = 1024 * 1024;
const WRITER_BYTES = 64 * 1024;

const compressors = {
  ZSTD: (page: Uint8Array): Uint8Array =>
    zstdCompressSync(page, {
      params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
      // Pages shrink to less than this: one piece of output, and no more fresh memory than it takes
      chunkSize: Math.max(1024, Math.ceil(page.length / 3)),
    }),
};

/** The library's byte writer over a file: a small buffer that is emptied into the file whenever it is full. */
class FileByteWriter extends ByteWriter {
  readonly #output: FileOutput;

  constructor(output: FileOutput) {
    super(WRITER_BYTES);
    this.#output = output;
  }

  override ensure(size: number): void {
    if (this.index + size <= this.buffer.byteLength) return;
    this.flush();
    super.ensure(size);
  }

  override appendBytes(value: Uint8Array): void {
    if (value.length < WRITER_BYTES) {
      super.appendBytes(value);
      return;
    }
    this.flush();
    this.#output.write(value);
    this.offset += value.length;
  }

  /** Called by the library after each row group. */
  flush(): void {
    if (this.index > 0) this.#output.write(this.getBytes());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

function columnBuffer(table: TableName, column: Column): ColumnBuffer {
  switch (column.type) {
    case 'key':
      return new KeyColumn(table, column);
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
      return new ListColumn(table, column, new KeyColumn(table, { ...column, nullable: false }));
  }
}

/** The cells as the library takes them: an array with null for null. */
function values(buffer: ColumnBuffer): DecodedArray {
  const { length, nullCount } = buffer;
  if (buffer instanceof KeyColumn) return buffer.values;
  if ((buffer instanceof IntColumn || buffer instanceof FloatColumn) && nullCount === 0) {
    return buffer.values.subarray(0, length);
  }
  const cell = cellReader(buffer);
  const array = new Array<unknown>(length);
  for (let i = 0; i < length; i++) array[i] = nullCount > 0 && buffer.isNull(i) ? null : cell(i);
  return array as DecodedArray;
}

function cellReader(buffer: ColumnBuffer): (at: number) => unknown {
  if (buffer instanceof TextColumn) return (at) => buffer.get(at);
  if (buffer instanceof BoolColumn) return (at) => buffer.get(at);
  if (buffer instanceof IntColumn || buffer instanceof FloatColumn) return (at) => buffer.values[at];
  if (buffer instanceof ListColumn && buffer.items instanceof KeyColumn) {
    const { items, offsets } = buffer;
    return (at) => items.values.slice(offsets[at], offsets[at + 1]);
  }
  throw new Error(`no reader for column ${buffer.column.name}`);
}

/** Ids that come in runs; of random ones (hashes, uuids) least and greatest values would rule nothing out. */
const CLUSTERED_IDS: ReadonlySet<string> = new Set(['session_id', 'source_id', 'source_path', 'cwd']);

/** Whether a column's least and greatest values are kept, for readers to skip row groups by. */
const hasStatistics = ({ name, type }: Column): boolean =>
  type === 'int' || type === 'timestamp' || CLUSTERED_IDS.has(name);

/**
 * The library keeps least and greatest values until it writes the footer, but those are views into column buffers that
 * the next row group fills anew.
 */
function keepStatistics({ columns }: RowGroup): void {
  for (const { meta_data } of columns) {
    const statistics = meta_data?.statistics;
    if (statistics?.min_value instanceof Uint8Array) statistics.min_value = new Uint8Array(statistics.min_value);
    if (statistics?.max_value instanceof Uint8Array) statistics.max_value = new Uint8Array(statistics.max_value);
  }
}

/** One table as a Parquet file. */
export class ParquetSink extends ColumnarSink {
  readonly #writer: ParquetWriter;
  readonly #file: FileByteWriter;
  readonly #levels = new ByteWriter();
  readonly #pathOf: (path: string[]) => SchemaTree[];

  constructor(target: SinkTarget) {
    super(target, target.rowGroupBytes ?? DEFAULT_ROW_GROUP_BYTES, columnBuffer);
    this.#file = new FileByteWriter(this.output);
    const schema = parquetSchema(columnsInFile(target));
    this.#pathOf = schemaPathResolver(schema);
    this.#writer = new ParquetWriter({
      writer: this.#file,
      schema,
      codec: 'ZSTD',
      compressors,
      createdBy: 'sessionlake',
      kvMetadata: [
        { key: SCHEMA_VERSION_KEY, value: SCHEMA_VERSION },
        { key: TABLE_KEY, value: target.table },
      ],
    });
  }

  protected writeGroup(rows: number): void {
    const start = this.#file.offset;
    const columns = this.columns.map((buffer) => this.#writeColumn(buffer));
    const group: RowGroup = {
      columns,
      total_byte_size: columns.reduce((n, { meta_data }) => n + (meta_data?.total_uncompressed_size ?? 0n), 0n),
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(this.#file.offset - start),
    };
    keepStatistics(group);
    this.#writer.row_groups.push(group);
    this.#writer.num_rows += BigInt(rows);
    this.#file.flush();
  }

  #writeColumn(buffer: ColumnBuffer): ColumnChunk {
    const path = leafPath(this.#pathOf([buffer.column.name]));
    const schemaPath = path.map((node) => node.element);
    const element = schemaPath.at(-1)!;
    if (isPlain(buffer)) {
      const statistics = hasStatistics(buffer.column);
      return writePlainColumn(buffer, {
        writer: this.#file,
        levels: this.#levels,
        element,
        compress: compressors.ZSTD,
        statistics,
      });
    }
    const keys = buffer instanceof ListColumn ? buffer.items : buffer;
    // Long strings must not get into the library's dictionary Map, nor into its comparisons.
    const dictionary = keys instanceof KeyColumn && !keys.hasLong;
    const { chunk } = writeColumn({
      writer: this.#file,
      column: {
        columnName: schemaPath
          .slice(1)
          .map(({ name }) => name)
          .join('.'),
        element,
        schemaPath,
        codec: 'ZSTD',
        compressors,
        stats: buffer.column.type === 'key' && dictionary,
        pageSize: PAGE_BYTES,
        columnIndex: false,
        offsetIndex: false,
        ...(dictionary ? {} : { encoding: 'PLAIN' as const }),
      },
      pageData: encodeNestedValues(path, values(buffer)),
    });
    return chunk;
  }

  protected writeEnd(): void {
    this.#writer.finish();
  }
}

/** From the root of the schema to the one leaf below a column. */
function leafPath(path: readonly SchemaTree[]): SchemaTree[] {
  const leaf = [...path];
  for (let next = leaf.at(-1)?.children[0]; next !== undefined; next = next.children[0]) leaf.push(next);
  return leaf;
}

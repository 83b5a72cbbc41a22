/**
 * Column chunks in PLAIN encoding straight from column buffers. The library takes arrays of values, one object a cell; texts
 * and counts, which are most of the cells, go to the page as the bytes they are in the buffer.
 */
import type { ColumnChunk, SchemaElement } from 'hyparquet';
import type { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { type ColumnBuffer, IntColumn, TextColumn } from './columns.ts';

/** Uncompressed bytes of a page, about. */
const PAGE_BYTES = 1024 * 1024;

export type PlainColumn = IntColumn | TextColumn;
export const isPlain = (buffer: ColumnBuffer): buffer is PlainColumn =>
  buffer instanceof IntColumn || buffer instanceof TextColumn;

export interface PlainTarget {
  readonly writer: ByteWriter;
  /** An empty writer of the same library, for the levels of a page. */
  readonly levels: ByteWriter;
  readonly element: SchemaElement;
  readonly compress: (page: Uint8Array) => Uint8Array;
  /** Whether least and greatest values are kept. */
  readonly statistics: boolean;
}

/** Page bodies are built here, one after the other. */
let scratch = Buffer.allocUnsafeSlow(PAGE_BYTES * 2);

function scratchOf(size: number): Buffer {
  if (scratch.length < size) scratch = Buffer.allocUnsafeSlow(size);
  return scratch;
}

interface Page {
  readonly start: number;
  readonly end: number;
}

/** Rows of each page; a value is never split. */
function pagesOf(buffer: PlainColumn): Page[] {
  const pages: Page[] = [];
  const sizeOf = (row: number): number =>
    buffer instanceof TextColumn ? buffer.offsets[row + 1]! - buffer.offsets[row]! + 4 : 8;
  let start = 0;
  let bytes = 0;
  for (let row = 0; row < buffer.length; row++) {
    const size = sizeOf(row);
    if (bytes + size > PAGE_BYTES && row > start) {
      pages.push({ start, end: row });
      start = row;
      bytes = 0;
    }
    bytes += size;
  }
  pages.push({ start, end: buffer.length });
  return pages;
}

function textBody(buffer: TextColumn, { start, end }: Page): Uint8Array {
  const { offsets } = buffer;
  const source = buffer.data.bytes;
  const body = scratchOf(offsets[end]! - offsets[start]! + 4 * (end - start));
  let at = 0;
  for (let row = start; row < end; row++) {
    if (buffer.nullCount > 0 && buffer.isNull(row)) continue;
    const from = offsets[row]!;
    const to = offsets[row + 1]!;
    const size = to - from;
    body[at] = size & 0xff;
    body[at + 1] = (size >> 8) & 0xff;
    body[at + 2] = (size >> 16) & 0xff;
    body[at + 3] = size >>> 24;
    at += 4;
    if (size <= 40) for (let i = from; i < to; i++) body[at++] = source[i]!;
    else {
      source.copy(body, at, from, to);
      at += size;
    }
  }
  return body.subarray(0, at);
}

function intBody(buffer: IntColumn, { start, end }: Page): Uint8Array {
  const { values } = buffer;
  if (buffer.nullCount === 0) return new Uint8Array(values.buffer, values.byteOffset + start * 8, (end - start) * 8);
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const body = scratchOf((end - start) * 8);
  const out = new Int32Array(body.buffer, body.byteOffset, (end - start) * 2);
  let at = 0;
  for (let row = start; row < end; row++) {
    if (buffer.isNull(row)) continue;
    out[at++] = halves[row * 2]!;
    out[at++] = halves[row * 2 + 1]!;
  }
  return body.subarray(0, at * 4);
}

/** Writes definition levels and gives the number of nulls. */
function writeLevels(levels: ByteWriter, buffer: PlainColumn, { start, end }: Page): number {
  const count = end - start;
  if (buffer.nullCount === 0) {
    // One run: the level 1, so many times.
    levels.appendVarInt(count << 1);
    levels.appendUint8(1);
    return 0;
  }
  const defined = new Uint8Array(count);
  let nulls = 0;
  for (let i = 0; i < count; i++) {
    if (buffer.isNull(start + i)) nulls++;
    else defined[i] = 1;
  }
  writeRleBitPackedHybrid(levels, defined, 1);
  return nulls;
}

function writePage(buffer: PlainColumn, page: Page, target: PlainTarget): number {
  const { writer, levels, element } = target;
  levels.index = 0;
  levels.offset = 0;
  const nulls = element.repetition_type === 'REQUIRED' ? 0 : writeLevels(levels, buffer, page);
  const body = buffer instanceof TextColumn ? textBody(buffer, page) : intBody(buffer, page);
  const compressed = target.compress(body);
  const rows = page.end - page.start;
  const headerStart = writer.offset;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.offset + body.length,
    compressed_page_size: levels.offset + compressed.length,
    data_page_header_v2: {
      num_values: rows,
      num_nulls: nulls,
      num_rows: rows,
      encoding: 'PLAIN',
      definition_levels_byte_length: levels.offset,
      repetition_levels_byte_length: 0,
      is_compressed: true,
    },
  });
  const header = writer.offset - headerStart;
  writer.appendBytes(levels.getBytes());
  writer.appendBytes(compressed);
  return header + levels.offset + body.length;
}

type Statistics = NonNullable<NonNullable<ColumnChunk['meta_data']>['statistics']>;

function intStatistics(buffer: IntColumn): Statistics {
  const null_count = BigInt(buffer.nullCount);
  let least: bigint | undefined;
  let greatest: bigint | undefined;
  for (let row = 0; row < buffer.length; row++) {
    if (buffer.nullCount > 0 && buffer.isNull(row)) continue;
    const value = buffer.values[row]!;
    if (least === undefined || value < least) least = value;
    if (greatest === undefined || value > greatest) greatest = value;
  }
  return least === undefined || greatest === undefined
    ? { null_count }
    : { null_count, min_value: least, max_value: greatest };
}

/** Bytes in unsigned order, as the format asks; copies, since the buffer is filled anew before the footer is written. */
function textStatistics(buffer: TextColumn): Statistics {
  const null_count = BigInt(buffer.nullCount);
  const { offsets } = buffer;
  const source = buffer.data.bytes;
  let least = -1;
  let greatest = -1;
  const compare = (a: number, b: number): number =>
    source.compare(source, offsets[b]!, offsets[b + 1]!, offsets[a]!, offsets[a + 1]!);
  for (let row = 0; row < buffer.length; row++) {
    if (buffer.nullCount > 0 && buffer.isNull(row)) continue;
    if (least === -1 || compare(row, least) < 0) least = row;
    if (greatest === -1 || compare(row, greatest) > 0) greatest = row;
  }
  if (least === -1) return { null_count };
  return { null_count, min_value: new Uint8Array(buffer.get(least)), max_value: new Uint8Array(buffer.get(greatest)) };
}

/** Writes a column of a row group and gives what the footer says of it. */
export function writePlainColumn(buffer: PlainColumn, target: PlainTarget): ColumnChunk {
  const { writer, element } = target;
  const start = writer.offset;
  let uncompressed = 0;
  const pages = pagesOf(buffer);
  for (const page of pages) uncompressed += writePage(buffer, page, target);
  const statistics = target.statistics
    ? buffer instanceof TextColumn
      ? textStatistics(buffer)
      : intStatistics(buffer)
    : undefined;
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: element.type!,
      encodings: ['PLAIN'],
      path_in_schema: [element.name],
      codec: 'ZSTD',
      num_values: BigInt(buffer.length),
      total_compressed_size: BigInt(writer.offset - start),
      total_uncompressed_size: BigInt(uncompressed),
      data_page_offset: BigInt(start),
      ...(statistics === undefined
        ? {}
        : {
            statistics,
            encoding_stats: [{ page_type: 'DATA_PAGE_V2' as const, encoding: 'PLAIN' as const, count: pages.length }],
          }),
    },
  };
}

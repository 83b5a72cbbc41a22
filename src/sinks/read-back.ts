/** Reading written files back, cheaply: how many rows they hold, and whether they are whole. For `verify`. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parquetMetadata } from 'hyparquet';
import type { SinkFormat } from './sink.ts';

/** A file that its format's reader could not make sense of. */
export class BrokenFileError extends Error {
  constructor(path: string, problem: string, cause?: unknown) {
    super(`${path}: ${problem}`, { cause });
    this.name = 'BrokenFileError';
  }
}

const CHUNK_BYTES = 1024 * 1024;
const LINE_FEED = 10;

interface OpenFile {
  readonly size: number;
  /** Exactly the bytes asked for. */
  readonly read: (position: number, length: number) => Buffer;
}

function withFile<T>(path: string, use: (file: OpenFile) => T): T {
  const descriptor = openSync(path, 'r');
  try {
    const read = (position: number, length: number): Buffer => {
      const bytes = Buffer.allocUnsafeSlow(length);
      for (let done = 0; done < length; ) {
        const got = readSync(descriptor, bytes, done, length - done, position + done);
        if (got === 0) throw new BrokenFileError(path, `ends before byte ${position + length}`);
        done += got;
      }
      return bytes;
    };
    return use({ size: fstatSync(descriptor).size, read });
  } finally {
    closeSync(descriptor);
  }
}

function eachChunk({ size, read }: OpenFile, take: (chunk: Buffer) => void): void {
  for (let at = 0; at < size; at += CHUNK_BYTES) take(read(at, Math.min(CHUNK_BYTES, size - at)));
}

/** Size and SHA-256 of a file, to be held against the manifest. */
export function fileDigest(path: string): { bytes: number; sha256: string } {
  return withFile(path, (file) => {
    const hash = createHash('sha256');
    eachChunk(file, (chunk) => hash.update(chunk));
    return { bytes: file.size, sha256: hash.digest('hex') };
  });
}

/** Lines, by their line feeds; text after the last one means that the file was cut. */
function ndjsonRows(path: string, file: OpenFile): number {
  let rows = 0;
  let last = LINE_FEED;
  eachChunk(file, (chunk) => {
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) rows++;
    last = chunk[chunk.length - 1]!;
  });
  if (last !== LINE_FEED) throw new BrokenFileError(path, 'the last line has no end');
  return rows;
}

/** From the footer alone; its row groups have to add up. */
function parquetRows(path: string, { size, read }: OpenFile): number {
  if (size < 12 || read(0, 4).toString('latin1') !== 'PAR1') throw new BrokenFileError(path, 'not a Parquet file');
  const tail = read(size - 8, 8);
  const footer = tail.readUInt32LE(0) + 8;
  if (tail.toString('latin1', 4) !== 'PAR1' || footer > size)
    throw new BrokenFileError(path, 'the Parquet footer is missing');
  const bytes = read(size - footer, footer);
  const { num_rows, row_groups } = parquetMetadata(bytes.buffer as ArrayBuffer);
  const inGroups = row_groups.reduce((sum, group) => sum + group.num_rows, 0n);
  if (inGroups !== num_rows)
    throw new BrokenFileError(path, `the footer says ${num_rows} rows, its row groups ${inGroups}`);
  return Number(num_rows);
}

const END_OF_STREAM = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
const FILE_MAGIC = Buffer.from('ARROW1');

/** The reader takes a file that was cut between two batches for a whole one; its last bytes tell. */
function checkArrowEnd(path: string, { size, read }: OpenFile, format: 'arrow' | 'arrow-stream'): void {
  const end = format === 'arrow' ? FILE_MAGIC : END_OF_STREAM;
  if (size < end.length || !read(size - end.length, end.length).equals(end)) {
    throw new BrokenFileError(path, 'the end of the Arrow data is missing');
  }
}

/** Batch by batch, each of them decoded. */
async function arrowRows(path: string, format: 'arrow' | 'arrow-stream'): Promise<number> {
  withFile(path, (file) => checkArrowEnd(path, file, format));
  const { RecordBatchReader } = await import('apache-arrow');
  const { open } = await import('node:fs/promises');
  const file = await open(path);
  try {
    const reader = await RecordBatchReader.from(file);
    let rows = 0;
    for await (const batch of await reader.open()) rows += batch.numRows;
    return rows;
  } finally {
    await file.close();
  }
}

/** Rows in a file. Throws `BrokenFileError` where it is no whole file of its format. */
export async function countRows(path: string, format: SinkFormat): Promise<number> {
  try {
    if (format === 'ndjson') return withFile(path, (file) => ndjsonRows(path, file));
    if (format === 'parquet') return withFile(path, (file) => parquetRows(path, file));
    return await arrowRows(path, format);
  } catch (error) {
    if (error instanceof BrokenFileError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    throw new BrokenFileError(path, `not readable as ${format}`, error);
  }
}

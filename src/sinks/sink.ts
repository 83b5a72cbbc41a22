/**
 * Sinks: where rows become a file. A sink takes the rows of one table, in order, and writes one file in bounded memory;
 * the same rows give the same bytes. Writing is synchronous, for worker threads.
 */
import { type Column, type TableName, tables } from '../records/tables.ts';

/** A row: values by column name, as `ColumnType` says; a missing key is null, further keys are not looked at. */
export type SinkRow = Readonly<Record<string, unknown>>;

export type SinkFormat = 'ndjson' | 'parquet' | 'arrow' | 'arrow-stream';
export type ParquetEngine = 'hyparquet-writer' | 'parquetjs-lite';

export interface SinkFile {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  /** Milliseconds since 1970 UTC over the table's event times; null where no row has one. */
  readonly minTimestamp: number | null;
  readonly maxTimestamp: number | null;
  /** SHA-256 of the file's bytes, in hex. */
  readonly sha256: string;
}

export interface TableSink {
  /**
   * Takes a row; nothing of it is kept by reference. Throws `CellError` for a value that its column cannot hold: the row
   * is then not taken, and the sink can go on. After any other error the sink is to be aborted.
   */
  write(row: SinkRow): void;
  /** Rows taken so far. */
  readonly rows: number;
  /** Bytes held in memory, about: what the next row group, batch or write to disk will take. */
  readonly bytesBuffered: number;
  /** Writes what is left and syncs the file. Null where no row was taken and no empty file is wanted: then there is none. */
  close(): SinkFile | null | Promise<SinkFile | null>;
  /** Gives up: closes and removes the file. */
  abort(): void;
}

export interface SinkTarget {
  readonly table: TableName;
  /** Path of the file, which must not exist. It is created at the first write to disk. */
  readonly path: string;
  /** Columns that are not in the file because its folder names them (Hive partitions). */
  readonly omit?: readonly string[];
  /** Whether `close` waits for the disk; true unless said otherwise. */
  readonly sync?: boolean;
  /** Whether there is to be a file even where no row was taken; false unless said otherwise. */
  readonly evenEmpty?: boolean;
  /** Bytes of row data after which a Parquet row group is cut; 16 MiB. Arrow batches are cut at half of it. */
  readonly rowGroupBytes?: number;
}

export interface SinkOptions extends SinkTarget {
  readonly format: SinkFormat;
  /** For Parquet; hyparquet-writer unless said otherwise. */
  readonly engine?: ParquetEngine;
}

export const DEFAULT_ROW_GROUP_BYTES = 16 * 1024 * 1024;

/** Written into every file that can hold it; raised when a table changes in a way that readers must know of. */
export const SCHEMA_VERSION = '1';
export const SCHEMA_VERSION_KEY = 'sessionlake.schema_version';
export const TABLE_KEY = 'sessionlake.table';

/** File name ending of a format, without the dot. */
export const fileExtension: Readonly<Record<SinkFormat, string>> = {
  ndjson: 'ndjson',
  parquet: 'parquet',
  arrow: 'arrow',
  'arrow-stream': 'arrows',
};

/** The columns that a file holds, in table order. */
export const columnsInFile = ({ table, omit = [] }: Pick<SinkTarget, 'table' | 'omit'>): readonly Column[] =>
  (tables[table].columns as readonly Column[]).filter((column) => !omit.includes(column.name));

/**
 * Loads a format once (its library may take 0.1 s) and gives the function that opens sinks without waiting.
 */
export async function sinkOpener(
  format: SinkFormat,
  engine: ParquetEngine = 'hyparquet-writer',
): Promise<(target: SinkTarget) => TableSink> {
  switch (format) {
    case 'ndjson': {
      const { NdjsonSink } = await import('./ndjson.ts');
      return (target) => new NdjsonSink(target);
    }
    case 'parquet': {
      if (engine === 'parquetjs-lite') {
        const { ParquetLiteSink } = await import('./parquet-lite.ts');
        return (target) => new ParquetLiteSink(target);
      }
      const { ParquetSink } = await import('./parquet.ts');
      return (target) => new ParquetSink(target);
    }
    case 'arrow':
    case 'arrow-stream': {
      const { ArrowSink } = await import('./arrow.ts');
      return (target) => new ArrowSink(target, format === 'arrow' ? 'file' : 'stream');
    }
  }
}

/** Opens one sink. */
export const openSink = async ({ format, engine, ...target }: SinkOptions): Promise<TableSink> =>
  (await sinkOpener(format, engine))(target);

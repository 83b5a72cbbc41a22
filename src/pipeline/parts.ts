/** The open files of one shard: one sink a table (and partition), replaced by a new part when a part ends. */
import { join } from 'node:path';
import { makeFolder } from '../framing/make-folder.ts';
import type { TableName } from '../records/tables.ts';
import { type Partition, partitionColumns, partitionFolder } from '../sinks/partition.ts';
import { fileExtension, type SinkFormat, type SinkTarget, type TableSink } from '../sinks/sink.ts';
import type { TableFile } from './protocol.ts';

/** More open sinks than this would hold too much memory; the longest unused one is closed. */
const MAX_OPEN = 24;

export interface PartsOptions {
  readonly open: (target: SinkTarget) => TableSink;
  readonly format: SinkFormat;
  /** Folder that holds a folder a table. */
  readonly folder: string;
  /** Beginning of file names: `part-<batch>-<shard>`. */
  readonly part: string;
  readonly partition: Partition;
  /** Whether each file waits for the disk when it is closed. */
  readonly sync: boolean;
}

/** Rows of one part. `close` keeps its files, `abort` removes them. */
export class Part {
  private readonly options: PartsOptions;
  private readonly number: number;
  /** How often a partition's file was begun: one that was closed to save memory goes on in another file. */
  private readonly begun = new Map<string, number>();
  private readonly sinks = new Map<string, { table: TableName; sink: TableSink }>();
  private readonly closed: Promise<TableFile | null>[] = [];

  constructor(options: PartsOptions, number: number) {
    this.options = options;
    this.number = number;
  }

  get isEmpty(): boolean {
    return this.sinks.size === 0 && this.closed.length === 0;
  }

  write(table: TableName, row: Readonly<Record<string, unknown>>): void {
    const folder = partitionFolder(this.options.partition, table, row);
    const key = `${table}/${folder}`;
    let open = this.sinks.get(key);
    if (open === undefined) {
      open = { table, sink: this.open(table, folder) };
      this.sinks.set(key, open);
      if (this.sinks.size > MAX_OPEN) this.closeOldest();
    } else if (this.options.partition === 'day') {
      // Most recently used last.
      this.sinks.delete(key);
      this.sinks.set(key, open);
    }
    open.sink.write(row);
  }

  /** Begins a file without rows, which is kept: what reads the table by a pattern finds its columns. */
  empty(table: TableName): void {
    const folder = partitionFolder(this.options.partition, table, {});
    this.sinks.set(`${table}/${folder}`, { table, sink: this.open(table, folder, true) });
  }

  async close(): Promise<TableFile[]> {
    for (const { table, sink } of this.sinks.values()) this.closed.push(closeSink(table, sink));
    this.sinks.clear();
    return (await Promise.all(this.closed)).filter((file) => file !== null);
  }

  abort(): void {
    for (const { sink } of this.sinks.values()) sink.abort();
    this.sinks.clear();
  }

  private open(table: TableName, folder: string, evenEmpty = false): TableSink {
    const { options } = this;
    const path = join(options.folder, table, folder);
    makeFolder(path, 0o700);
    const again = this.begun.get(path) ?? 0;
    this.begun.set(path, again + 1);
    const number = String(this.number).padStart(2, '0') + (again === 0 ? '' : `-${again}`);
    const file = `${options.part}${number}.${fileExtension[options.format]}`;
    return options.open({
      table,
      path: join(path, file),
      omit: partitionColumns(options.partition, table),
      sync: options.sync,
      evenEmpty,
    });
  }

  private closeOldest(): void {
    const [key, oldest] = this.sinks.entries().next().value!;
    this.sinks.delete(key);
    this.closed.push(closeSink(oldest.table, oldest.sink));
  }
}

async function closeSink(table: TableName, sink: TableSink): Promise<TableFile | null> {
  const file = await sink.close();
  return file === null ? null : { table, ...file };
}

/** One table on a pipe as an Arrow IPC stream: one schema, then the record batches of all files, then one end. */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchFile } from '../cursor/cursor.ts';
import type { Rows, TableName } from '../records/tables.ts';
import { arrowStreamFrame } from '../sinks/arrow.ts';
import { openSink } from '../sinks/sink.ts';
import type { Pipe } from './pipe.ts';
import type { ShardOutput, ShardResult } from './protocol.ts';
import type { Run } from './run.ts';
import { shardName } from './snapshot.ts';
import type { StreamOutput } from './stream.ts';

/**
 * Workers write whole Arrow streams of their own into files; since all of them have the table's schema, what stands
 * between its schema message and its end mark is passed on as it is.
 */
export class ArrowPipeOutput implements StreamOutput {
  readonly tellsEachShard = true;
  readonly isIncomplete = false;
  private readonly pipe: Pipe;
  private readonly run: Run;
  private readonly folder: string;
  private readonly table: TableName;
  private readonly frame: ReturnType<typeof arrowStreamFrame>;
  private batchId = '';
  private pending: Rows[TableName][] = [];
  private drains = 0;

  constructor(pipe: Pipe, run: Run, folder: string, table: TableName) {
    this.pipe = pipe;
    this.run = run;
    this.folder = folder;
    this.table = table;
    this.frame = arrowStreamFrame(table);
  }

  start(): Promise<void> {
    return this.pipe.write(this.frame.head);
  }

  async end(): Promise<void> {
    await this.pipe.write(this.frame.end);
    await this.pipe.flush();
  }

  begin(batchId: string): void {
    this.batchId = batchId;
  }

  shardOutput(index: number): ShardOutput {
    return {
      kind: 'batch',
      format: 'arrow-stream',
      engine: 'hyparquet-writer',
      folder: this.folder,
      part: `${this.batchId}-${shardName(index)}-`,
      partition: 'none',
      sync: false,
    };
  }

  async takeShard(result: ShardResult): Promise<void> {
    await this.drain();
    for (const file of result.files) {
      this.run.countRows(this.table, file.rows);
      await this.pass(file.path, file.bytes);
    }
  }

  rows<N extends TableName>(table: N, rows: readonly Rows[N][]): void {
    if (rows.length === 0 || table !== this.table) return;
    this.run.countRows(table, rows.length);
    for (const row of rows) this.pending.push(row);
  }

  async finish(): Promise<BatchFile[]> {
    await this.drain();
    await this.pipe.flush();
    return [];
  }

  commit(): void {}

  abort(): void {}

  /** Rows of the main thread. */
  private async drain(): Promise<void> {
    if (this.pending.length === 0) return;
    const rows = this.pending;
    this.pending = [];
    const path = join(this.folder, `${this.batchId}-main-${this.drains++}.arrows`);
    const sink = await openSink({ format: 'arrow-stream', table: this.table, path, sync: false });
    try {
      for (const row of rows) sink.write(row);
    } catch (error) {
      sink.abort();
      throw error;
    }
    const file = await sink.close();
    if (file !== null) await this.pass(path, file.bytes);
  }

  /** Passes the record batches of a file on, and removes it. */
  private async pass(path: string, bytes: number): Promise<void> {
    const { head, end } = this.frame;
    const stop = bytes - end.length;
    if (stop > head.length) {
      const range = { start: head.length, end: stop - 1, highWaterMark: 256 * 1024 };
      for await (const chunk of createReadStream(path, range) as AsyncIterable<Buffer>) await this.pipe.write(chunk);
    }
    rmSync(path);
  }
}

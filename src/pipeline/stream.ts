/** `stream`: rows on a pipe, as NDJSON or as Arrow; all of them or, with a cursor, what is new. */
import { createReadStream, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { type BatchFile, Cursor } from '../cursor/cursor.ts';
import { cursorFailure } from '../cursor/failure.ts';
import { type Lock, takeLock } from '../cursor/lock.ts';
import { makeFolder } from '../framing/make-folder.ts';
import { type ReadPlan, type StreamFormat, UsageError } from '../options.ts';
import type { Rows, TableName } from '../records/tables.ts';
import { encodeNdjsonRows } from '../sinks/ndjson.ts';
import { checkSettings } from './changes.ts';
import { type BatchOutput, Incremental } from './incremental.ts';
import { Pipe } from './pipe.ts';
import type { ShardOutput, ShardResult } from './protocol.ts';
import type { Listener, RunReport } from './report.ts';
import { Run } from './run.ts';
import { shardName } from './snapshot.ts';

/** What a stream's rows become. */
export interface StreamOutput extends BatchOutput {
  /** Before any row. */
  start(): Promise<void>;
  /** After the last batch. */
  end(): Promise<void>;
}

class PipeOutput implements StreamOutput {
  readonly tellsEachShard = true;
  readonly isIncomplete = false;
  private readonly pipe: Pipe;
  private readonly run: Run;
  private readonly folder: string;
  private batchId = '';
  private pending: Buffer[] = [];

  constructor(pipe: Pipe, run: Run, folder: string) {
    this.pipe = pipe;
    this.run = run;
    this.folder = folder;
  }

  async start(): Promise<void> {}

  async end(): Promise<void> {}

  begin(batchId: string): void {
    this.batchId = batchId;
  }

  shardOutput(index: number): ShardOutput {
    return { kind: 'stream', folder: this.folder, part: `${this.batchId}-${shardName(index)}-` };
  }

  async takeShard(result: ShardResult): Promise<void> {
    await this.drain();
    for (const outcome of result.outcomes) {
      for (const [table, rows] of Object.entries(outcome.written))
        if (table !== 'usage') this.run.countRows(table as TableName, rows);
    }
    for (const path of result.streamFiles) {
      for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>)
        await this.pipe.write(chunk);
      rmSync(path);
    }
  }

  rows<N extends TableName>(table: N, rows: readonly Rows[N][]): void {
    if (rows.length === 0 || !this.run.plan.projection.tables.includes(table)) return;
    this.run.countRows(table, rows.length);
    this.pending.push(encodeNdjsonRows(table, rows));
  }

  private async drain(): Promise<void> {
    const pending = this.pending;
    this.pending = [];
    for (const bytes of pending) await this.pipe.write(bytes);
  }

  async finish(): Promise<BatchFile[]> {
    await this.drain();
    await this.pipe.flush();
    return [];
  }

  commit(): void {}

  abort(): void {}
}

const FOLDER = /^sessionlake-stream-(\d+)-/;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
};

/**
 * A private folder for rows on their way to the pipe. It goes when the process ends, also by a signal that the command
 * line handles; what killed processes left behind goes when the next one starts: transcripts must not lie about.
 */
function temporaryFolder(): { path: string; remove(): void } {
  for (const name of readdirSync(tmpdir())) {
    const pid = FOLDER.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  const path = mkdtempSync(join(tmpdir(), `sessionlake-stream-${process.pid}-`));
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  process.once('exit', remove);
  return {
    path,
    remove() {
      process.off('exit', remove);
      remove();
    },
  };
}

function openCursor(path: string | null, plan: ReadPlan): { cursor: Cursor; lock: Lock | null } {
  if (path === null) return { cursor: Cursor.open(''), lock: null };
  makeFolder(dirname(path), 0o700);
  const lock = takeLock(`${path}.lock`);
  try {
    const cursor = Cursor.open(path);
    const { tables, since, until, accounting } = plan.projection;
    const mismatch = checkSettings(cursor, { format: 'stream', tables, since, until, accounting, host: plan.host });
    if (mismatch === null) return { cursor, lock };
    cursor.close();
    throw new UsageError(`the cursor was made with other settings: ${mismatch}; use the old ones, or another --cursor`);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function outputFor(format: StreamFormat, pipe: Pipe, run: Run, folder: string): Promise<StreamOutput> {
  if (format === 'ndjson') return new PipeOutput(pipe, run, folder);
  // Its library takes a while to load.
  const { ArrowPipeOutput } = await import('./arrow-pipe.ts');
  return new ArrowPipeOutput(pipe, run, folder, run.plan.projection.tables[0]!);
}

/**
 * Writes rows to `target`; Arrow takes a projection of one table. With a cursor, positions move when the pipe has taken
 * all rows of a batch, and no reader was seen to go away: what goes wrong before that tells the batch again. A pipe does
 * not say what of its contents was read. Throws `ConsumerGone` where the reader went away.
 */
export async function streamRows(
  plan: ReadPlan,
  target: Writable,
  cursorFile: string | null,
  listener: Listener,
  only: ReadonlySet<string> | null = null,
  format: StreamFormat = 'ndjson',
): Promise<RunReport> {
  const { cursor, lock } = openCursor(cursorFile, plan);
  const folder = temporaryFolder();
  const pipe = new Pipe(target);
  let run: Run | null = null;
  try {
    run = new Run(plan, listener, only);
    const output = await outputFor(format, pipe, run, folder.path);
    await output.start();
    const report = await new Incremental(run, cursor, output).execute(0);
    await output.end();
    return report;
  } catch (error) {
    throw cursorFile === null ? error : cursorFailure(error, cursorFile);
  } finally {
    pipe.release();
    await run?.close();
    folder.remove();
    cursor.close();
    lock?.release();
  }
}

/** `sync`: what is new since last time goes into a lake, each row once. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type BatchFile, Cursor } from '../cursor/cursor.ts';
import { cursorPath, discardStage, manifestPath, OWN_FOLDER, rollForward, stageFolder } from '../cursor/lake.ts';
import { takeLock } from '../cursor/lock.ts';
import { type ReadPlan, UsageError } from '../options.ts';
import type { Rows, TableName } from '../records/tables.ts';
import { type SinkTarget, sinkOpener, type TableSink } from '../sinks/sink.ts';
import { checkSettings } from './changes.ts';
import { type BatchOutput, Incremental } from './incremental.ts';
import { Part } from './parts.ts';
import type { ShardOutput, ShardResult, TableFile, TablesOutput } from './protocol.ts';
import type { Listener, RunReport } from './report.ts';
import { Run } from './run.ts';
import { type SnapshotTarget, shardName } from './snapshot.ts';

export interface SyncTarget extends SnapshotTarget {
  /** Path of the cursor file; null = in the lake. */
  readonly cursor: string | null;
}

/** Writes the files of a lake: everything is staged, then moved into place. */
class LakeOutput implements BatchOutput {
  readonly tellsEachShard = false;
  private readonly target: SyncTarget;
  private readonly cursor: Cursor;
  private readonly open: (target: SinkTarget) => TableSink;
  private batchId = '';
  private own: Part | null = null;
  private files: TableFile[] = [];

  constructor(target: SyncTarget, cursor: Cursor, open: (target: SinkTarget) => TableSink) {
    this.target = target;
    this.cursor = cursor;
    this.open = open;
  }

  begin(batchId: string): void {
    this.batchId = batchId;
    this.files = [];
    mkdirSync(this.stage, { recursive: true, mode: 0o700 });
    this.own = new Part({ open: this.open, ...this.tables('main') }, 0);
  }

  private get stage(): string {
    return stageFolder(this.target.folder, this.batchId);
  }

  private tables(name: string): TablesOutput {
    const { format, engine, partition } = this.target;
    return { format, engine, partition, folder: this.stage, part: `part-${this.batchId}-${name}`, sync: true };
  }

  shardOutput(index: number): ShardOutput {
    return { kind: 'batch', ...this.tables(shardName(index)) };
  }

  async takeShard(result: ShardResult): Promise<void> {
    this.files.push(...result.files);
  }

  rows<N extends TableName>(table: N, rows: readonly Rows[N][]): void {
    for (const row of rows) this.own!.write(table, row);
  }

  async finish(): Promise<BatchFile[]> {
    this.files.push(...(await this.own!.close()));
    return this.files
      .map((file) => ({ ...file, path: relative(this.stage, file.path) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  commit(): void {
    rollForward(this.cursor, this.target.folder, this.target.format);
    rmSync(this.stage, { recursive: true, force: true });
  }

  abort(): void {
    this.own?.abort();
    rmSync(this.stage, { recursive: true, force: true });
  }
}

/** Throws `UsageError` where the folder holds a snapshot: the two kinds of lake do not mix. */
function checkTarget(folder: string, cursorFile: string): void {
  // An empty file would be taken for a new cursor.
  const hasCursor = existsSync(cursorFile) && statSync(cursorFile).size > 0;
  if (hasCursor || !existsSync(manifestPath(folder))) return;
  const manifest = JSON.parse(readFileSync(manifestPath(folder), 'utf8')) as { kind?: string };
  if (manifest.kind === 'snapshot')
    throw new UsageError(`${folder} holds a snapshot of 'sessionlake export'; sync into another folder`);
  throw new UsageError(
    `${folder} is an incremental lake, but its cursor ${cursorFile} is missing or empty; a new one would write every row again`,
  );
}

/** Brings a lake up to date. Throws `UsageError`, `CursorLockedError`, `CursorUnusableError` and `RecoveryError`. */
export async function syncLake(
  plan: ReadPlan,
  target: SyncTarget,
  listener: Listener,
  only: ReadonlySet<string> | null = null,
): Promise<RunReport> {
  const cursorFile = target.cursor ?? cursorPath(target.folder);
  checkTarget(target.folder, cursorFile);
  mkdirSync(join(target.folder, OWN_FOLDER), { recursive: true, mode: 0o700 });
  mkdirSync(dirname(cursorFile), { recursive: true, mode: 0o700 });
  const lock = takeLock(`${cursorFile}.lock`);
  let cursor: Cursor | null = null;
  let run: Run | null = null;
  try {
    cursor = Cursor.open(cursorFile);
    const { format, partition } = target;
    const { tables, since, until, accounting } = plan.projection;
    const mismatch = checkSettings(cursor, { format, partition, tables, since, until, accounting, host: plan.host });
    if (mismatch !== null) {
      throw new UsageError(`the lake was written with other settings: ${mismatch}; use the old ones, or another --out`);
    }
    const rolledForward = rollForward(cursor, target.folder, target.format);
    discardStage(target.folder);
    run = new Run(plan, listener, only);
    const output = new LakeOutput(target, cursor, await sinkOpener(target.format, target.engine));
    return await new Incremental(run, cursor, output).execute(rolledForward);
  } finally {
    await run?.close();
    cursor?.close();
    lock.release();
  }
}

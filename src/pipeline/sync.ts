/** `sync`: what is new since last time goes into a lake, each row once. */
import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Batch, type BatchFile, Cursor } from '../cursor/cursor.ts';
import { cursorFailure } from '../cursor/failure.ts';
import {
  checkFiles,
  cursorPath,
  discardStage,
  manifestPath,
  OWN_FOLDER,
  readManifest,
  rollForward,
  stageFolder,
} from '../cursor/lake.ts';
import { takeLock } from '../cursor/lock.ts';
import { type ReadPlan, UsageError } from '../options.ts';
import type { Rows, TableName } from '../records/tables.ts';
import { type SinkTarget, sinkOpener, type TableSink } from '../sinks/sink.ts';
import { checkSettings } from './changes.ts';
import { type BatchOutput, Incremental } from './incremental.ts';
import { makeOutFolder } from './out-folder.ts';
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
  /** Tables that have no file yet: whoever reads them by a pattern is to find one from the first run on. */
  private readonly bare: Set<TableName>;
  private readonly tablesAsked: readonly TableName[];

  /** `bare`: those of the tables asked for that have no file yet. */
  constructor(
    target: SyncTarget,
    cursor: Cursor,
    open: (target: SinkTarget) => TableSink,
    tablesAsked: readonly TableName[],
    bare: readonly TableName[],
  ) {
    this.target = target;
    this.cursor = cursor;
    this.open = open;
    this.tablesAsked = tablesAsked;
    this.bare = new Set(bare);
  }

  get isIncomplete(): boolean {
    return this.bare.size > 0;
  }

  begin(batchId: string): void {
    this.batchId = batchId;
    this.files = [];
    makeOutFolder(this.stage, 0o700);
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
    if (!this.tablesAsked.includes(table)) return;
    for (const row of rows) this.own!.write(table, row);
  }

  async finish(): Promise<BatchFile[]> {
    this.files.push(...(await this.own!.close()));
    for (const { table } of this.files) this.bare.delete(table);
    this.own = new Part({ open: this.open, ...this.tables('empty') }, 0);
    for (const table of this.bare) this.own.empty(table);
    this.files.push(...(await this.own.close()));
    this.bare.clear();
    return this.files
      .map((file) => ({ ...file, path: relative(this.stage, file.path) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  commit(): void {
    rollForward(this.cursor, this.target.folder, this.target.format);
    removeQuietly(this.stage);
  }

  abort(): void {
    this.own?.abort();
    removeQuietly(this.stage);
  }
}

/** Removes what is no longer needed. That the disk refuses this is no failure of the run, and must not hide one. */
function removeQuietly(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The next run clears the stage before it begins.
  }
}

/** Throws `UsageError` where the folder holds a snapshot: the two kinds of lake do not mix. */
function checkTarget(folder: string, cursorFile: string): void {
  // An empty file would be taken for a new cursor.
  const hasCursor = existsSync(cursorFile) && statSync(cursorFile).size > 0;
  if (hasCursor || !existsSync(manifestPath(folder))) return;
  if (readManifest(folder).kind === 'snapshot')
    throw new UsageError(`${folder} holds a snapshot of 'sessionlake export'; sync into another folder`);
  throw new UsageError(
    `${folder} is an incremental lake, but its cursor ${cursorFile} is missing or empty; a new one would write every row ` +
      'again: restore the cursor, or move the folder away and sync anew',
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
  try {
    return await syncWith(cursorFile, plan, target, listener, only);
  } catch (error) {
    throw cursorFailure(error, cursorFile);
  }
}

/** The tables that are to be written and have no file yet. */
function bareTables(plan: ReadPlan, committed: readonly Batch[]): TableName[] {
  const present = new Set(committed.flatMap(({ files }) => files.map(({ table }) => table)));
  return plan.projection.tables.filter((table) => !present.has(table));
}

async function syncWith(
  cursorFile: string,
  plan: ReadPlan,
  target: SyncTarget,
  listener: Listener,
  only: ReadonlySet<string> | null,
): Promise<RunReport> {
  checkTarget(target.folder, cursorFile);
  makeOutFolder(join(target.folder, OWN_FOLDER), 0o700);
  makeOutFolder(dirname(cursorFile), 0o700);
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
    const committed = cursor.batches('committed');
    checkFiles(target.folder, committed);
    run = new Run(plan, listener, only);
    const open = await sinkOpener(target.format, target.engine);
    const output = new LakeOutput(target, cursor, open, tables, bareTables(plan, committed));
    return await new Incremental(run, cursor, output).execute(rolledForward);
  } finally {
    await run?.close();
    // Now that no worker writes any more. The files of a batch that is prepared are still needed.
    if (run !== null && cursor?.batches('prepared').length === 0)
      removeQuietly(join(target.folder, OWN_FOLDER, 'stage'));
    cursor?.close();
    lock.release();
  }
}

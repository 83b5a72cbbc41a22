/** `export`: a whole snapshot, written beside the old one and switched in one step. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { cursorPath, manifestPath, OWN_FOLDER, writeManifest } from '../cursor/lake.ts';
import { takeLock } from '../cursor/lock.ts';
import { mergeSessionParts, type SessionPart } from '../decoding/session-part.ts';
import { type PackedClaims, settle } from '../ledger/batch-ledger.ts';
import { type ReadPlan, UsageError } from '../options.ts';
import { syncFolder } from '../sinks/file-output.ts';
import type { Partition } from '../sinks/partition.ts';
import { type ParquetEngine, type SinkFormat, sinkOpener } from '../sinks/sink.ts';
import { discoveryIssueRow, sourceRow } from './main-rows.ts';
import { checkOutFolder, explained, makeOutFolder } from './out-folder.ts';
import { Part } from './parts.ts';
import type { ShardResult, TableFile, TablesOutput, UsageTask } from './protocol.ts';
import type { Listener, RunReport } from './report.ts';
import { Run } from './run.ts';

export interface SnapshotTarget {
  /** Absolute path of the lake. */
  readonly folder: string;
  readonly format: SinkFormat;
  readonly engine: ParquetEngine;
  readonly partition: Partition;
}

/** The one batch of a snapshot. */
const BATCH = '000001';
const SYNCED_AT_ONCE = 64;

interface Places {
  readonly stage: string;
  readonly old: string;
  readonly lock: string;
}

/** Names beside the lake: a rename between them and the lake is one step of the file system. */
const placesOf = (folder: string): Places => {
  const beside = (what: string): string => join(dirname(folder), `.${basename(folder)}.sessionlake-${what}`);
  return { stage: beside('stage'), old: beside('old'), lock: beside('lock') };
};

/** Throws `UsageError` where the folder holds something that an export must not replace. */
function checkTarget(folder: string): void {
  if (!existsSync(folder)) return;
  if (existsSync(cursorPath(folder))) {
    throw new UsageError(
      `${folder} is an incremental lake (it has a cursor); export to another folder, or go on with 'sessionlake sync'`,
    );
  }
  const entries = readdirSync(folder);
  if (entries.length > 0 && !existsSync(manifestPath(folder))) {
    throw new UsageError(
      `${folder} is not empty and was not written by sessionlake; choose another folder or empty it`,
    );
  }
}

/** Finishes or undoes what a killed export left: the old snapshot is back in place, or the new one is. */
function recover(folder: string, { stage, old }: Places): void {
  if (existsSync(old)) {
    if (existsSync(folder)) rmSync(old, { recursive: true });
    else renameSync(old, folder);
  }
  rmSync(stage, { recursive: true, force: true });
}

/** Removes a stage that did not become the lake. That the disk refuses this must not hide what led to it. */
function removeStage(stage: string): void {
  try {
    rmSync(stage, { recursive: true, force: true });
  } catch {
    // The next export removes it before it begins.
  }
}

function switchOver(folder: string, { stage, old }: Places): void {
  const hasOld = existsSync(folder);
  if (hasOld) renameSync(folder, old);
  try {
    renameSync(stage, folder);
  } catch (error) {
    if (hasOld) renameSync(old, folder);
    throw error;
  }
  syncFolder(dirname(folder));
  rmSync(old, { recursive: true, force: true });
}

/** Exports a whole snapshot. Throws `UsageError` and `CursorLockedError`; a failure leaves the old snapshot whole. */
export async function exportSnapshot(
  plan: ReadPlan,
  target: SnapshotTarget,
  listener: Listener,
  only: ReadonlySet<string> | null = null,
): Promise<RunReport> {
  const places = placesOf(target.folder);
  makeOutFolder(dirname(target.folder));
  explained(target.folder, () => checkOutFolder(target.folder));
  checkTarget(target.folder);
  const lock = explained(target.folder, () => takeLock(places.lock));
  let run: Run | null = null;
  try {
    recover(target.folder, places);
    makeOutFolder(join(places.stage, OWN_FOLDER, 'spool'), 0o700);
    run = new Run(plan, listener, only);
    const snapshot = new Snapshot(run, target, places.stage);
    const report = await snapshot.write();
    switchOver(target.folder, places);
    return report;
  } finally {
    await run?.close();
    // After a failure, once no worker writes any more.
    removeStage(places.stage);
    lock.release();
  }
}

class Snapshot {
  private readonly run: Run;
  private readonly target: SnapshotTarget;
  private readonly stage: string;
  private readonly files: TableFile[] = [];
  private readonly spools: { index: number; path: string; claims: PackedClaims }[] = [];
  private readonly parts = new Map<string, SessionPart[]>();

  constructor(run: Run, target: SnapshotTarget, stage: string) {
    this.run = run;
    this.target = target;
    this.stage = stage;
  }

  async write(): Promise<RunReport> {
    const { run } = this;
    const { sources } = run.discovery;
    const open = await sinkOpener(this.target.format, this.target.engine);
    const own = new Part({ open, ...this.output('main') }, 0);
    run.expect(run.totalBytes);
    if (sources.length > 0) {
      await run.resolveFamilies(sources);
      const tasks = run.shardTasks(
        sources.map((found) => ({ found, generation: 0, resume: null, prior: null })),
        (index) => ({
          kind: 'snapshot',
          ...this.output(shardName(index)),
          spool: join(this.stage, OWN_FOLDER, 'spool', `${index}`),
        }),
      );
      await run.runShards(tasks, discardFiles, (result) => this.take(result, own));
    }
    run.listener.phase('writing', null);
    for (const issue of run.discovery.issues) this.put(own, 'issues', discoveryIssueRow(issue, run.plan.host));
    this.writeSessions(own);
    await this.writeUsage();
    this.files.push(...(await own.close()));
    this.files.push(...(await this.emptyFiles(new Part({ open, ...this.output('empty') }, 0))));
    rmSync(join(this.stage, OWN_FOLDER, 'spool'), { recursive: true });
    for (const file of this.files) run.countRows(file.table, file.rows);
    await syncFiles(this.files.map((file) => file.path));
    this.writeManifest();
    return run.report({ unchanged: 0, batches: [BATCH], rolledForward: 0 });
  }

  private output(name: string): TablesOutput {
    const { format, engine, partition } = this.target;
    return { format, engine, partition, folder: this.stage, part: `part-${BATCH}-${name}`, sync: false };
  }

  /** A table without rows has a file too: whoever reads it by a pattern finds its columns. */
  private emptyFiles(part: Part): Promise<TableFile[]> {
    const present = new Set(this.files.map(({ table }) => table));
    for (const table of this.run.plan.projection.tables) if (!present.has(table)) part.empty(table);
    return part.close();
  }

  private put(own: Part, table: 'sessions' | 'sources' | 'issues', row: Parameters<Part['write']>[1]): void {
    if (this.run.plan.projection.tables.includes(table)) own.write(table, row);
  }

  private take(result: ShardResult, own: Part): void {
    const { run } = this;
    this.files.push(...result.files);
    if (result.usageSpool !== null) this.spools.push({ index: result.index, ...result.usageSpool });
    for (const outcome of result.outcomes) {
      run.note(outcome);
      const ingest = { host: run.plan.host, batchId: BATCH, at: run.plan.now };
      this.put(own, 'sources', sourceRow(run.found(outcome.sourceId), outcome, 0, ingest));
      for (const issue of outcome.issues) this.put(own, 'issues', issue);
      for (const part of outcome.sessions) {
        const key = `${part.agent}\u0000${part.fields.session_id}`;
        const parts = this.parts.get(key);
        if (parts === undefined) this.parts.set(key, [part]);
        else parts.push(part);
      }
    }
  }

  private writeSessions(own: Part): void {
    for (const parts of this.parts.values()) this.put(own, 'sessions', mergeSessionParts(parts, 0, 0));
  }

  private async writeUsage(): Promise<void> {
    if (this.spools.length === 0) return;
    const counted = settle(this.spools.map((spool) => spool.claims));
    const tasks: UsageTask[] = this.spools.map((spool, i) => ({
      ...this.output(shardName(spool.index)),
      spool: spool.path,
      counted: counted[i]!,
    }));
    this.files.push(...(await this.run.engine.usage(tasks)).flat());
  }

  private writeManifest(): void {
    const files = this.files
      .map((file) => ({ ...file, path: relative(this.stage, file.path) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    writeManifest(this.stage, { kind: 'snapshot', format: this.target.format, batches: [{ batch_id: BATCH, files }] });
  }
}

/** Waits until all files are on disk, several at a time: the switch must not outrun them. */
async function syncFiles(paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += SYNCED_AT_ONCE) {
    await Promise.all(
      paths.slice(at, at + SYNCED_AT_ONCE).map(async (path) => {
        const file = await open(path, 'r');
        try {
          await file.sync();
        } finally {
          await file.close();
        }
      }),
    );
  }
  for (const folder of new Set(paths.map((path) => dirname(path)))) syncFolder(folder);
}

export const shardName = (index: number): string => String(index).padStart(4, '0');

/** Removes the files of a shard that is run again. */
export function discardFiles(result: ShardResult): void {
  for (const file of result.files) rmSync(file.path, { force: true });
  for (const path of result.streamFiles) rmSync(path, { force: true });
  if (result.usageSpool !== null) rmSync(result.usageSpool.path, { force: true });
}

/** Reading again what changed, batch by batch: the heart of `sync` and `stream`. */
import { BatchWriter } from '../cursor/batch-writer.ts';
import type { BatchFile, Cursor, KnownSource } from '../cursor/cursor.ts';
import { ObservationLedger } from '../cursor/observations.ts';
import type { FoundSource } from '../discovery/discovery.ts';
import { isHeldBack } from '../records/summary.ts';
import type { Rows, TableName } from '../records/tables.ts';
import { changedSources, fingerprintOf, type PlannedChange } from './changes.ts';
import { type Relative, resolveKinship } from './family.ts';
import { discoveryIssueRow, sourceRow } from './main-rows.ts';
import type { ShardOutput, ShardResult, SourceOutcome } from './protocol.ts';
import type { RunReport } from './report.ts';
import { type PlannedSource, type Run, relativeOf } from './run.ts';
import { usageDigest } from './shard-writer.ts';
import { unitsOf } from './shards.ts';
import { discardFiles } from './snapshot.ts';

/** A first run over a large store is committed in batches of about this size, so that little is lost when it is killed. */
const BATCH_BYTES = 512 * 1024 * 1024;
const BATCH_SOURCES = 20_000;

/** Where the rows of a batch go. */
export interface BatchOutput {
  begin(batchId: string): void;
  shardOutput(index: number): ShardOutput;
  /** A shard's own files are complete. */
  takeShard(result: ShardResult): Promise<void>;
  /** Rows made by the main thread. */
  rows<N extends TableName>(table: N, rows: readonly Rows[N][]): void;
  /** Whether sessions and postings are told after each shard (a pipe) or once a batch (files). */
  readonly tellsEachShard: boolean;
  /** Whether there is something to be written even where no source changed. */
  readonly isIncomplete: boolean;
  /** Everything is written and durable; says what is to be moved into place. */
  finish(): Promise<BatchFile[]>;
  /** The cursor has the batch: move files into place. */
  commit(): void;
  abort(): void;
}

export class Incremental {
  private readonly run: Run;
  private readonly cursor: Cursor;
  private readonly output: BatchOutput;
  private readonly known: Map<string, KnownSource>;
  private readonly startedAt = Date.now();
  private readonly batches: string[] = [];

  constructor(run: Run, cursor: Cursor, output: BatchOutput) {
    this.run = run;
    this.cursor = cursor;
    this.output = output;
    this.known = cursor.sources();
  }

  async execute(rolledForward: number): Promise<RunReport> {
    const own = changedSources(this.run.discovery.sources, this.known);
    this.run.expect(
      own.reduce((n, { found, known }) => n + Math.max(0, (found.size ?? 0) - (known?.lastCompleteByte ?? 0)), 0),
    );
    const changed = await this.withRelatives(own);
    const unchanged = this.run.discovery.sources.length - changed.length;
    let isFirst = true;
    const batches = cutBatches(changed);
    if (batches.length === 0 && this.output.isIncomplete) batches.push([]);
    for (const batch of batches) {
      await this.runBatch(batch, isFirst);
      isFirst = false;
    }
    return this.run.report({ unchanged, batches: this.batches, rolledForward });
  }

  /** Adds sources that did not change themselves, but whose relatives say something new about them. */
  private async withRelatives(changed: PlannedChange[]): Promise<PlannedChange[]> {
    const { run, known } = this;
    const concerned = changed.filter((c) => run.needsFamily(c.found));
    if (concerned.length === 0) return changed;
    run.listener.phase('linking', null);
    await run.peek(concerned.map((c) => c.found));
    const ids = new Set(concerned.map((c) => c.found.sourceId));
    run.families = await resolveKinship(
      this.relatives(),
      (source) => ids.has(source.sourceId),
      (source) => (ids.has(source.sourceId) ? null : this.cursor.claims(source.sourceId)),
      (sources) => run.readClaims(sources),
    );
    const byId = new Map(changed.map((c) => [c.found.sourceId, c]));
    const all: PlannedChange[] = [];
    for (const found of run.discovery.sources) {
      const planned = byId.get(found.sourceId);
      const before = known.get(found.sourceId);
      const digest = run.families.digests.get(found.sourceId);
      const isOther = before !== undefined && digest !== undefined && digest !== before.kinDigest;
      if (planned !== undefined)
        all.push(isOther && planned.change === 'grown' ? { ...planned, change: 'context' } : planned);
      else if (isOther) all.push({ found, known: before, change: 'context' });
    }
    return all;
  }

  /** All sources that were ever seen: those that are gone may still own what others copied. */
  private relatives(): Relative[] {
    const { run, known } = this;
    const relatives = run.discovery.sources.map((found) => {
      const links = run.links.get(found.sourceId) ?? known.get(found.sourceId)?.links ?? { ids: [], refs: [] };
      run.links.set(found.sourceId, links);
      return relativeOf(found, links);
    });
    const present = new Set(run.discovery.sources.map((s) => s.sourceId));
    for (const gone of known.values()) {
      if (present.has(gone.sourceId)) continue;
      const agent = run.plan.discovery.agents.find((a) => a.slug === gone.agent);
      if (agent?.formats[gone.spec.storeKind] === undefined) continue;
      relatives.push({
        source: { agent: gone.agent, spec: gone.spec, sourceId: gone.sourceId },
        links: gone.links,
      });
    }
    return relatives;
  }

  private async runBatch(changes: readonly PlannedChange[], isFirst: boolean): Promise<void> {
    const { cursor, output, run } = this;
    const batchId = cursor.nextBatchId();
    const batch = new BatchWriter(cursor, batchId);
    const ledger = new ObservationLedger(cursor, (row) => usageDigest(row.agent, row.usage_key, row.event_id));
    const byId = new Map(changes.map((change) => [change.found.sourceId, change]));
    output.begin(batchId);
    cursor.database.exec('BEGIN IMMEDIATE');
    try {
      if (isFirst)
        output.rows(
          'issues',
          run.discovery.issues.map((issue) => discoveryIssueRow(issue, run.plan.host)),
        );
      const tasks = run.shardTasks(
        changes.map((change) => this.planned(change)),
        (index) => output.shardOutput(index),
      );
      await run.runShards(tasks, discardFiles, async (result) => {
        await output.takeShard(result);
        for (const outcome of result.outcomes) this.take(outcome, byId.get(outcome.sourceId)!, batch, ledger, batchId);
        if (output.tellsEachShard) this.tellLedger(batch, ledger);
      });
      if (!output.tellsEachShard) this.tellLedger(batch, ledger);
      const files = await output.finish();
      if (files.length > 0) batch.prepare(files, new Date(run.plan.now).toISOString());
      // A pipe has no files, and yet its batches are to be told apart.
      else if (output.tellsEachShard) cursor.setMeta('last_batch', batchId);
      cursor.database.exec('COMMIT');
      if (files.length > 0) this.batches.push(batchId);
      for (const file of files) run.countRows(file.table as TableName, file.rows);
    } catch (error) {
      if (cursor.database.inTransaction) cursor.database.exec('ROLLBACK');
      output.abort();
      throw error;
    }
    output.commit();
  }

  private tellLedger(batch: BatchWriter, ledger: ObservationLedger): void {
    const wants = (table: TableName): boolean => this.run.plan.projection.tables.includes(table);
    if (wants('usage')) for (const rows of inSlices(ledger.post())) this.output.rows('usage', rows);
    if (wants('sessions')) for (const rows of inSlices(batch.sessionRows())) this.output.rows('sessions', rows);
  }

  private planned({ found, known, change }: PlannedChange): PlannedSource {
    const mayResume = change === 'grown' && known !== undefined && known.hasResume;
    return {
      found,
      generation: this.generation({ found, known, change }),
      resume: mayResume ? this.cursor.resumePoint(found.sourceId) : null,
      prior: known === undefined ? new Uint8Array(0) : this.cursor.rowStates(found.sourceId),
    };
  }

  private generation({ known, change }: PlannedChange): number {
    return (known?.generation ?? 0) + (change === 'decoder' ? 1 : 0);
  }

  private take(
    outcome: SourceOutcome,
    change: PlannedChange,
    batch: BatchWriter,
    ledger: ObservationLedger,
    batchId: string,
  ): void {
    const { run, output } = this;
    const { found, known } = change;
    run.note(outcome);
    const ingest = { host: run.plan.host, batchId, at: run.plan.now };
    const row = sourceRow(found, outcome, this.generation(change), ingest);
    if (!outcome.passed) {
      if (isHeldBack(outcome.summary.status, run.plan.gate) && !this.isNewFailure(found, outcome)) return;
      output.rows('sources', [row]);
      output.rows('issues', outcome.issues);
      if (outcome.summary.status !== 'unsupported') return;
    } else {
      ledger.observe(outcome.usage, found.spec.path);
      const replaces = found.agent.formats[found.spec.storeKind]?.replacesUsage === true && known !== undefined;
      if (change.change === 'decoder' || replaces || this.hasNewRelatives(change))
        ledger.retireOthers(found.sourceId, outcome.usage);
      if (this.isWorthTelling(change, outcome)) output.rows('sources', [row]);
      output.rows('issues', outcome.issues);
    }
    this.cursor.statement('DELETE FROM failures WHERE source_id = ?').run(found.sourceId);
    batch.source({
      sourceId: found.sourceId,
      agent: found.agent.slug,
      spec: found.spec,
      fingerprint: fingerprintOf(found, outcome.stat, this.startedAt),
      status: outcome.summary.status,
      decoderVersion: found.agent.formats[found.spec.storeKind]?.decoderVersion ?? 0,
      generation: this.generation(change),
      kinDigest: run.families.digests.get(found.sourceId) ?? known?.kinDigest ?? '',
      links: run.links.get(found.sourceId) ?? known?.links ?? { ids: [], refs: [] },
      size: outcome.stat?.size ?? null,
      lastCompleteByte: outcome.summary.lastCompleteByte,
      records: outcome.summary.records,
      resume: outcome.resume,
      rowState: outcome.rowState,
      claims: run.families.claims.get(found.sourceId) ?? null,
      sessions: outcome.sessions,
    });
  }

  /** Whether relatives now say otherwise which records are copies: what was told as the source's own may be theirs. */
  private hasNewRelatives({ found, known, change }: PlannedChange): boolean {
    if (known === undefined || change === 'grown') return false;
    const digest = this.run.families.digests.get(found.sourceId);
    return digest !== undefined && digest !== known.kinDigest;
  }

  /** A source that fails in the same way at every run is told once. */
  private isNewFailure(found: FoundSource, outcome: SourceOutcome): boolean {
    const told = JSON.stringify([outcome.summary.status, outcome.summary.error, outcome.summary.lineErrors]);
    const { cursor } = this;
    const before = cursor.statement('SELECT told FROM failures WHERE source_id = ?').get(found.sourceId) as
      | { told: string }
      | undefined;
    cursor
      .statement('INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)')
      .run(found.sourceId, found.agent.slug, found.spec.path, told);
    return before?.told !== told;
  }

  /** Looking into a source again and finding nothing new is no news. */
  private isWorthTelling({ known, change }: PlannedChange, outcome: SourceOutcome): boolean {
    if (known === undefined || change !== 'grown') return true;
    const { status, records } = outcome.summary;
    // A torn tail shows in the size alone where an earlier line is damaged: the status says that then.
    const hasGrown = known.size !== (outcome.stat?.size ?? null);
    return hasGrown || known.status !== status || known.records !== records || Object.keys(outcome.written).length > 0;
  }
}

/** Rows of the main thread that are held at once. */
const SLICE = 500;

function* inSlices<T>(rows: Iterable<T>): Generator<readonly T[], void, undefined> {
  let slice: T[] = [];
  for (const row of rows) {
    slice.push(row);
    if (slice.length < SLICE) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

function cutBatches(changes: readonly PlannedChange[]): PlannedChange[][] {
  const batches: PlannedChange[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const unit of unitsOf(changes, ({ found }) => found.spec)) {
    const size = unit.reduce((n, { found }) => n + (found.size ?? 0), 0);
    const last = batches[batches.length - 1];
    if (last === undefined || bytes + size > BATCH_BYTES || last.length >= BATCH_SOURCES) {
      batches.push([...unit]);
      bytes = size;
    } else {
      last.push(...unit);
      bytes += size;
    }
  }
  return batches;
}

/** What every reading command shares: sources, threads, families, shards, and the tally of outcomes. */
import { availableParallelism } from 'node:os';
import type { Links } from '../agents/agent.ts';
import { type Discovery, discoverChecked, type FoundSource } from '../discovery/discovery.ts';
import { ByteBudget } from '../framing/byte-budget.ts';
import { clearScratch } from '../framing/scratch.ts';
import type { ReadPlan } from '../options.ts';
import { UsageError } from '../options.ts';
import { isHeldBack, type ReadStatus } from '../records/summary.ts';
import { type TableName, tableNames } from '../records/tables.ts';
import { Engine } from './engine.ts';
import { type Families, noFamilies, noKinship, type Relative, resolveKinship } from './family.ts';
import type {
  ClaimsFound,
  RunSettings,
  ShardOutput,
  ShardResult,
  ShardSource,
  ShardTask,
  SourceOutcome,
  SourceRef,
} from './protocol.ts';
import type { Listener, RunReport, SourceProblem } from './report.ts';
import { cutShards, unitsOf } from './shards.ts';
import { runSurviving } from './survival.ts';

/** Large items that all workers hold at once, together. */
const LARGE_ITEM_BUDGET = 192 * 1024 * 1024;
const PROGRESS_EVERY_MS = 100;
/** What is read in less time than threads take to start. */
const SMALL_BYTES = 16 * 1024 * 1024;
const DEFAULT_THREADS = Math.min(8, availableParallelism());
/** A source whose head did not show its relatives is read again; it cannot surprise more often than this. */
const MAX_REREADS = 3;

/** Tables whose rows say who owns them. */
const FAMILY_TABLES: ReadonlySet<TableName> = new Set(['messages', 'tool_calls', 'tool_results', 'sessions', 'usage']);

export const refOf = (source: FoundSource): SourceRef => ({
  agent: source.agent.slug,
  spec: source.spec,
  sourceId: source.sourceId,
});

/** A source with all that its reading depends on. */
export interface PlannedSource extends Pick<ShardSource, 'generation' | 'resume' | 'prior'> {
  readonly found: FoundSource;
}

export class Run {
  readonly plan: ReadPlan;
  readonly settings: RunSettings;
  readonly listener: Listener;
  readonly discovery: Discovery;
  readonly links = new Map<string, Links>();
  families: Families = noFamilies;
  private engineOrNull: Engine | null = null;
  private readonly read: Partial<Record<ReadStatus, number>> = {};
  private readonly heldBack: SourceProblem[] = [];
  private readonly withErrors: SourceProblem[] = [];
  private readonly unknownTypes = new Map<string, number>();
  private readonly rows: Partial<Record<TableName, number>> = {};
  private bytes = 0;

  constructor(plan: ReadPlan, listener: Listener, only: ReadonlySet<string> | null) {
    this.plan = plan;
    this.listener = listener;
    listener.phase('looking', null);
    const discovery = discoverChecked(plan.discovery);
    this.discovery =
      only === null ? discovery : { ...discovery, sources: discovery.sources.filter((s) => only.has(s.spec.path)) };
    if (plan.limits.stopAtByte !== null && this.discovery.sources.length !== 1) {
      throw new UsageError(
        `--stop-at-byte reads one file, but ${this.discovery.sources.length} sources were found; name it with --root agent=FILE`,
      );
    }
    this.settings = {
      projection: plan.projection,
      limits: plan.limits,
      gate: plan.gate,
      host: plan.host,
      budget: ByteBudget.create(LARGE_ITEM_BUDGET).shared,
      progress: new BigInt64Array(new SharedArrayBuffer(8)),
    };
  }

  /** Says how much there is to read, before anything is: little is read in this thread, which saves starting others. */
  expect(bytes: number): void {
    const { threads } = this.plan;
    this.engineOrNull ??= new Engine(threads === null && bytes < SMALL_BYTES ? 0 : (threads ?? DEFAULT_THREADS));
  }

  get engine(): Engine {
    this.engineOrNull ??= new Engine(this.plan.threads ?? DEFAULT_THREADS);
    return this.engineOrNull;
  }

  async close(): Promise<void> {
    await this.engineOrNull?.close();
    clearScratch();
  }

  /** Whether a source's relatives matter to what is asked for. */
  needsFamily(source: FoundSource): boolean {
    const format = source.agent.formats[source.spec.storeKind];
    if (format?.hasFamily !== true || source.spec.fault !== undefined) return false;
    // Totals do not say which session made a request: for them, most formats' replies are told apart by their keys.
    if (this.plan.projection.totalsOnly) return format.usageNeedsFamily ?? false;
    return this.plan.projection.tables.some((table) => FAMILY_TABLES.has(table));
  }

  /** Looks at the heads of sources for relatives. */
  async peek(sources: readonly FoundSource[]): Promise<void> {
    const links = await this.engine.peek(this.settings, sources.map(refOf));
    sources.forEach((source, i) => {
      this.links.set(source.sourceId, links[i]!);
    });
  }

  /** Resolves families among sources that are all read in this run. */
  async resolveFamilies(sources: readonly FoundSource[]): Promise<void> {
    const concerned = sources.filter((source) => this.needsFamily(source));
    if (concerned.length === 0) return;
    this.listener.phase('linking', null);
    await this.link(concerned);
  }

  /** The same without a word, for sources that need it. */
  async link(concerned: readonly FoundSource[]): Promise<void> {
    if (concerned.length === 0) return;
    await this.peek(concerned);
    await this.resolveAgain(concerned);
  }

  private async resolveAgain(sources: readonly FoundSource[]): Promise<void> {
    this.families = await resolveKinship(
      sources.map((source) => relativeOf(source, this.links.get(source.sourceId)!)),
      () => true,
      () => null,
      (refs) => this.readClaims(refs),
    );
  }

  /** Claims of sources of this run, or (size not known) of an earlier one. */
  readClaims(sources: readonly SourceRef[]): Promise<ClaimsFound[]> {
    return this.engine.claims(this.settings, sources, ({ sourceId }) => this.byId().get(sourceId)?.size ?? 0);
  }

  /** Cuts sources into shards and says what each becomes. */
  shardTasks(sources: readonly PlannedSource[], output: (index: number) => ShardOutput): ShardTask[] {
    const bytesOf = (source: PlannedSource): number =>
      Math.max(0, (source.found.size ?? 0) - (source.resume?.byte ?? 0));
    // The sessions of one database stay together: one thread reads them in one transaction.
    const units = unitsOf(sources, ({ found }) => found.spec);
    const shards = cutShards(units, (unit) => unit.reduce((n, source) => n + bytesOf(source), 0));
    return shards.map((shard, index) => ({
      settings: this.settings,
      index,
      sources: shard.flat().map((source) => this.shardSource(source)),
      output: output(index),
      current: new Int32Array(new SharedArrayBuffer(4)),
    }));
  }

  private shardSource({ found, generation, resume, prior }: PlannedSource): ShardSource {
    const kinship = this.families.kinship.get(found.sourceId) ?? noKinship;
    return {
      ...refOf(found),
      generation,
      resume,
      prior,
      copies: kinship.copies,
      foundRelated: kinship.foundRelated,
      parentId: kinship.parentId ?? null,
      links: this.links.get(found.sourceId) ?? null,
      outline: this.families.outlines.get(found.sourceId) ?? null,
    };
  }

  /**
   * Runs shards in order. One that holds a source with relatives that its head did not show is run again with them;
   * `discard` removes what the first attempt wrote.
   */
  async runShards(
    tasks: readonly ShardTask[],
    discard: (result: ShardResult) => void,
    onResult: (result: ShardResult) => Promise<void> | void,
  ): Promise<void> {
    const sources = tasks.flatMap((task) => task.sources);
    const bytes = sources.reduce((n, s) => n + (this.sizeOf(s.sourceId) - (s.resume?.byte ?? 0)), 0);
    await this.reading(bytes, () => this.inOrder(tasks, discard, onResult));
  }

  /** Tells the progress of work that reads so many bytes. */
  async reading(bytes: number, work: () => Promise<void>): Promise<void> {
    this.listener.phase('reading', bytes);
    const start = Atomics.load(this.settings.progress, 0);
    const timer = setInterval(
      () => this.listener.progress(Number(Atomics.load(this.settings.progress, 0) - start)),
      PROGRESS_EVERY_MS,
    );
    timer.unref();
    try {
      await work();
      this.listener.progress(Number(Atomics.load(this.settings.progress, 0) - start));
    } finally {
      clearInterval(timer);
    }
  }

  /** As `runShards`, within `reading`. */
  inOrder(
    tasks: readonly ShardTask[],
    discard: (result: ShardResult) => void,
    onResult: (result: ShardResult) => Promise<void> | void,
  ): Promise<void> {
    return this.engine.shards(
      tasks,
      (task) => runSurviving(this.engine, task),
      async (first, task) => {
        let result = first;
        for (let again = 0; again < MAX_REREADS && result.outcomes.some((o) => o.newLinks !== null); again++) {
          discard(result);
          result = await this.reread(task, result);
        }
        await onResult(result);
      },
    );
  }

  private async reread(task: ShardTask, result: ShardResult): Promise<ShardResult> {
    for (const outcome of result.outcomes)
      if (outcome.newLinks !== null) this.links.set(outcome.sourceId, outcome.newLinks);
    await this.resolveAgain(this.discovery.sources.filter((s) => this.links.has(s.sourceId)));
    const sources = task.sources.map((source) => {
      const kinship = this.families.kinship.get(source.sourceId) ?? noKinship;
      const links = this.links.get(source.sourceId) ?? null;
      return {
        ...source,
        copies: kinship.copies,
        foundRelated: kinship.foundRelated,
        parentId: kinship.parentId ?? null,
        links,
      };
    });
    return runSurviving(this.engine, { ...task, sources });
  }

  found(sourceId: string): FoundSource {
    const source = this.byId().get(sourceId);
    if (source === undefined) throw new Error(`no source ${sourceId} in this run`);
    return source;
  }

  /** Bytes of all sources. */
  get totalBytes(): number {
    return this.discovery.sources.reduce((n, s) => n + (s.size ?? 0), 0);
  }

  private sizeOf(sourceId: string): number {
    return this.found(sourceId).size ?? 0;
  }

  private sourcesById: Map<string, FoundSource> | null = null;
  private byId(): Map<string, FoundSource> {
    this.sourcesById ??= new Map(this.discovery.sources.map((s) => [s.sourceId, s]));
    return this.sourcesById;
  }

  /** Takes an outcome into the report. */
  note(outcome: SourceOutcome): void {
    const source = this.found(outcome.sourceId);
    const { summary } = outcome;
    this.read[summary.status] = (this.read[summary.status] ?? 0) + 1;
    // Of a session in a database: its own share.
    this.bytes += source.spec.bytes ?? outcome.stat?.size ?? 0;
    for (const [type, count] of Object.entries(summary.unknownTypes)) {
      const name = `${source.agent.slug}/${type}`;
      this.unknownTypes.set(name, (this.unknownTypes.get(name) ?? 0) + count);
    }
    const held = isHeldBack(summary.status, this.plan.gate);
    if (!held && summary.status !== 'complete_with_errors') return;
    const issue = outcome.issues.find((i) => i.severity === 'error');
    const errors = summary.lineErrors === 1 ? '1 bad record' : `${summary.lineErrors} bad records`;
    const problem: SourceProblem = {
      agent: source.agent.slug,
      path: source.spec.path,
      status: summary.status,
      message: summary.error?.message ?? `${errors}${issue === undefined ? '' : `, the first: ${issue.message}`}`,
      byteStart: issue?.byte_start ?? null,
      byteEnd: issue?.byte_end ?? null,
    };
    (held ? this.heldBack : this.withErrors).push(problem);
  }

  countRows(table: TableName, rows: number): void {
    if (rows > 0) this.rows[table] = (this.rows[table] ?? 0) + rows;
  }

  report(rest: Pick<RunReport, 'unchanged' | 'batches' | 'rolledForward'>): RunReport {
    return {
      read: this.read,
      heldBack: this.heldBack,
      withErrors: this.withErrors,
      unsupported: this.read.unsupported ?? 0,
      bytes: this.bytes,
      rows: inTableOrder(this.rows),
      unknownTypes: Object.fromEntries([...this.unknownTypes].sort(([a], [b]) => (a < b ? -1 : 1))),
      discoveryIssues: this.discovery.issues,
      ...rest,
    };
  }
}

const inTableOrder = (rows: RunReport['rows']): RunReport['rows'] =>
  Object.fromEntries(tableNames.flatMap((table) => (rows[table] === undefined ? [] : [[table, rows[table]]])));

export const relativeOf = (source: FoundSource, links: Links): Relative => ({ source: refOf(source), links });

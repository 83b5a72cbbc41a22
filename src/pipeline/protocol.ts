/** What crosses between the main thread and the workers: plain values only, and no rows on the hot path. */
import type { Claims, Links, Outlined, SourceSpec } from '../agents/agent.ts';
import type { Projection } from '../decoding/emitter.ts';
import type { ResumePoint } from '../decoding/read-source.ts';
import type { SessionPart } from '../decoding/session-part.ts';
import type { FileStat } from '../framing/byte-source.ts';
import type { ReadLimits } from '../framing/limits.ts';
import type { PackedClaims } from '../ledger/batch-ledger.ts';
import type { Gate, ReadSummary } from '../records/summary.ts';
import type { IssueRow, TableName, UsageRow } from '../records/tables.ts';
import type { Partition } from '../sinks/partition.ts';
import type { ParquetEngine, SinkFile, SinkFormat } from '../sinks/sink.ts';

/** What all tasks of a run share. */
export interface RunSettings {
  readonly projection: Projection;
  readonly limits: ReadLimits;
  readonly gate: Gate;
  readonly host: string;
  /** Of `ByteBudget`. */
  readonly budget: Int32Array<SharedArrayBuffer>;
  /** Bytes read so far, by all workers. */
  readonly progress: BigInt64Array<SharedArrayBuffer>;
}

export interface SourceRef {
  readonly agent: string;
  readonly spec: SourceSpec;
  readonly sourceId: string;
}

export interface PeekTask {
  readonly settings: RunSettings;
  readonly sources: readonly SourceRef[];
}
export type PeekResult = readonly Links[];

export interface ClaimsTask {
  readonly settings: RunSettings;
  readonly sources: readonly SourceRef[];
}
/** Claims of a source, with the outline that came along and the size of the source that both are of. */
export interface ClaimsFound {
  readonly claims: Claims;
  readonly outline: { readonly size: number; readonly outlined: Outlined<unknown> } | null;
}
export type ClaimsResult = readonly ClaimsFound[];

/** Files of tables: a folder a table below `folder`, file names begin with `part`. */
export interface TablesOutput {
  readonly format: SinkFormat;
  readonly engine: ParquetEngine;
  readonly folder: string;
  readonly part: string;
  readonly partition: Partition;
  /** Whether each file waits for the disk when it is closed; else they are synced together at the end. */
  readonly sync: boolean;
}

/** What a shard's rows become. */
export type ShardOutput =
  /** Usage rows wait in the file `spool` until the ledger is settled. */
  | (TablesOutput & { readonly kind: 'snapshot'; readonly spool: string })
  /** Usage rows come back to the main thread, whose ledger makes postings of them. */
  | (TablesOutput & { readonly kind: 'batch' })
  /** All tables in NDJSON files, in order of place; usage rows come back. */
  | { readonly kind: 'stream'; readonly folder: string; readonly part: string }
  /** No rows: sums for `usage`. */
  | { readonly kind: 'totals'; readonly timeZone: string };

export interface ShardSource extends SourceRef {
  readonly generation: number;
  readonly copies: Float64Array;
  readonly foundRelated: boolean;
  readonly parentId: string | null;
  readonly links: Links | null;
  /** Made when its claims were read; void where the source has another size by now. */
  readonly outline: ClaimsFound['outline'];
  readonly resume: ResumePoint | null;
  /** Packed row states of earlier reads (see `row-state.ts`); null: all rows are new and none are remembered. */
  readonly prior: Uint8Array | null;
}

export interface ShardTask {
  readonly settings: RunSettings;
  readonly index: number;
  readonly sources: readonly ShardSource[];
  readonly output: ShardOutput;
  /** Index of the source that is being read: tells which one it was when a worker dies of it. */
  readonly current: Int32Array<SharedArrayBuffer>;
}

export interface UsageReturn {
  readonly row: UsageRow;
  readonly native: boolean;
  readonly variant: string | null;
}

export interface SourceOutcome {
  readonly sourceId: string;
  readonly summary: ReadSummary;
  readonly stat: FileStat | null;
  readonly issues: readonly IssueRow[];
  readonly sessions: readonly SessionPart[];
  readonly resume: ResumePoint | null;
  readonly newLinks: Links | null;
  /** Whether its rows are in the shard's files. */
  readonly passed: boolean;
  /** Rows written, which is fewer than told where only changes are. */
  readonly written: Readonly<Partial<Record<TableName, number>>>;
  /** Row states after this read; null where none are kept. */
  readonly rowState: Uint8Array | null;
  readonly usage: readonly UsageReturn[];
}

export interface TableFile extends SinkFile {
  readonly table: TableName;
}

/** Usage sums of one shard, as parallel arrays; names are in `labels`. */
export interface PackedTotals {
  readonly claims: PackedClaims;
  /** `agent \0 day \0 model`, each once; day and model may be empty (not known). */
  readonly labels: readonly string[];
  readonly label: Uint32Array;
  /** Six counted columns a row, in the order of `countedColumns`; NaN = null. */
  readonly counted: Float64Array;
}

export interface ShardResult {
  readonly index: number;
  readonly outcomes: readonly SourceOutcome[];
  /** In the order in which they were begun. */
  readonly files: readonly TableFile[];
  /** NDJSON files of `stream`, in order. */
  readonly streamFiles: readonly string[];
  /** Spooled usage rows of `snapshot`; null where there are none. */
  readonly usageSpool: { readonly path: string; readonly claims: PackedClaims } | null;
  readonly totals: PackedTotals | null;
}

/** Writes the settled usage rows of one shard. */
export interface UsageTask extends TablesOutput {
  readonly spool: string;
  /** One byte a row: 1 = counted in full, 0 = counts zero. */
  readonly counted: Uint8Array;
}
export type UsageResult = readonly TableFile[];

/**
 * The library. Options have the names of the command line, without the dashes; they are validated, and what is wrong is
 * a `UsageError`. Nothing is printed.
 */
import { resolve } from 'node:path';
import { PassThrough, type Writable } from 'node:stream';
import split2 from 'split2';
import { type Discovery, discover as discoverSources } from './discovery/discovery.ts';
import { type Options, type OptionsInput, parseOptions, planRead, type ReadPlan } from './options.ts';
import { type Listener, type RunReport, silent } from './pipeline/report.ts';
import { exportSnapshot } from './pipeline/snapshot.ts';
import { streamRows } from './pipeline/stream.ts';
import { syncLake } from './pipeline/sync.ts';
import { type UsageTotals, usageTotals } from './pipeline/usage-totals.ts';
import type { Rows, TableName } from './records/tables.ts';

export { agents } from './agents/registry.ts';
export type { Discovery, FoundSource } from './discovery/discovery.ts';
export { type OptionsInput, UsageError } from './options.ts';
export type { Listener, RunReport, SourceProblem } from './pipeline/report.ts';
export { exitStatus } from './pipeline/report.ts';
export type { UsageTotal, UsageTotals } from './pipeline/usage-totals.ts';
export type { Gate, ReadStatus, ReadSummary } from './records/summary.ts';
export type {
  HistoryRow,
  IssueRow,
  MessageRow,
  RawRow,
  Rows,
  SessionRow,
  SourceRow,
  TableName,
  ToolCallRow,
  ToolResultRow,
  UsageRow,
} from './records/tables.ts';
export { tables } from './records/tables.ts';

/** `Session` from `sessions`: the value of `record` in NDJSON. */
type RecordNames = {
  sessions: 'session';
  messages: 'message';
  tool_calls: 'tool_call';
  tool_results: 'tool_result';
  usage: 'usage';
  sources: 'source';
  issues: 'issue';
  raw: 'raw';
  history: 'history';
};

/** In NDJSON, times are ISO-8601 texts. */
type AsJson<Row> = {
  readonly [K in keyof Row]: K extends 'timestamp' | 'started_at' | 'ended_at' | 'mtime' | 'ingested_at'
    ? string | null
    : Row[K];
};

/** A row as `read` gives it: `record` names its kind. */
export type ReadRow = { [N in TableName]: AsJson<Rows[N]> & { readonly record: RecordNames[N] } }[TableName];

const prepared = (input: OptionsInput): { options: Options; plan: ReadPlan } => {
  const options = parseOptions(input);
  return { options, plan: planRead(options, { env: process.env, platform: process.platform }) };
};

/** Lists sources without reading them. Throws `UsageError`. */
export function discover(input: OptionsInput = {}): Discovery {
  return discoverSources(prepared(input).plan.discovery);
}

/** Writes NDJSON rows to a stream, as `sessionlake stream` does. Throws `UsageError`; rejects where the reader goes away. */
export async function stream(
  target: Writable,
  input: OptionsInput = {},
  listener: Listener = silent,
): Promise<RunReport> {
  const { options, plan } = prepared(input);
  return streamRows(plan, target, options.cursor === undefined ? null : resolve(options.cursor), listener);
}

/**
 * Rows one by one, as objects. The value that the iterator returns at its end is the report. Memory stays flat however
 * slowly rows are taken; leaving the loop early stops the reading.
 */
export async function* read(
  input: OptionsInput = {},
  listener: Listener = silent,
): AsyncGenerator<ReadRow, RunReport, undefined> {
  const { options, plan } = prepared(input);
  const pipe = new PassThrough();
  const lines = pipe.pipe(split2());
  const cursor = options.cursor === undefined ? null : resolve(options.cursor);
  const done = streamRows(plan, pipe, cursor, listener).finally(() => pipe.end());
  done.catch((error: Error) => lines.destroy(error));
  try {
    for await (const line of lines as AsyncIterable<string>) yield JSON.parse(line) as ReadRow;
  } finally {
    // Left early or not: nothing of the reading is still under way afterwards.
    pipe.destroy();
    await done.catch(() => undefined);
  }
  return done;
}

/** Options of what a lake looks like. */
export type LakeOptions = OptionsInput & { readonly out: string };

const lakeTarget = (options: Options): Parameters<typeof exportSnapshot>[1] => ({
  folder: resolve(options.out!),
  format: options.format ?? 'parquet',
  engine: options['parquet-engine'] ?? 'hyparquet-writer',
  partition: options.partition ?? 'none',
});

/** Writes a whole snapshot to the folder `out`, as `sessionlake export` does. Throws `UsageError`. */
export async function exportTo(input: LakeOptions, listener: Listener = silent): Promise<RunReport> {
  const { options, plan } = prepared(input);
  return exportSnapshot(plan, lakeTarget(options), listener);
}

/** Brings the lake in the folder `out` up to date, as `sessionlake sync` does. Throws `UsageError` and where it is locked. */
export async function sync(input: LakeOptions, listener: Listener = silent): Promise<RunReport> {
  const { options, plan } = prepared(input);
  return syncLake(
    plan,
    { ...lakeTarget(options), cursor: options.cursor === undefined ? null : resolve(options.cursor) },
    listener,
  );
}

/** Usage totals per day, agent and model. Days are those of the time zone given, else of the system's. */
export async function usage(input: OptionsInput = {}, listener: Listener = silent): Promise<UsageTotals> {
  const { options, plan } = prepared(input);
  return usageTotals(plan, options['time-zone'] ?? Intl.DateTimeFormat().resolvedOptions().timeZone, listener);
}

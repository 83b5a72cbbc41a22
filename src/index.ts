/**
 * The library. Options have the names of the command line, without the dashes; they are validated, and what is wrong is
 * a `UsageError`. Results have the names of `--json`. Nothing is printed.
 */
import { resolve } from 'node:path';
import { PassThrough, type Writable } from 'node:stream';
import split2 from 'split2';
import { sourceList } from './cli/source-list.ts';
import { type Discovery, discoverChecked } from './discovery/discovery.ts';
import {
  lakeTarget,
  type Options,
  type OptionsInput,
  parseOptions,
  planRead,
  type ReadPlan,
  streamFormat,
  systemTimeZone,
} from './options.ts';
import { type Listener, silent } from './pipeline/report.ts';
import { exportSnapshot } from './pipeline/snapshot.ts';
import { streamRows } from './pipeline/stream.ts';
import { syncLake } from './pipeline/sync.ts';
import { usageTotals } from './pipeline/usage-totals.ts';
import type { AnyJsonRow, JsonRow } from './records/json-rows.ts';
import { type ReportRecord, reportRecord, type UsageSummary, usageSummary } from './results.ts';
import { UsageError } from './usage-error.ts';

export { agents } from './agents/registry.ts';
export type { Discovery, FoundRoot, FoundSource } from './discovery/discovery.ts';
export type { DiscoveryIssue } from './discovery/walker.ts';
export type { OptionsInput } from './options.ts';
export type { Listener } from './pipeline/report.ts';
export type { JsonRows as Rows } from './records/json-rows.ts';
export type { ReadStatus } from './records/summary.ts';
export type { TableName } from './records/tables.ts';
export { tables } from './records/tables.ts';
export type {
  PassedByRecord,
  ProblemRecord,
  ReportRecord,
  TokenTotals,
  UsageRecord,
  UsageSummary,
} from './results.ts';
export { UsageError };

export type SessionRow = JsonRow<'sessions'>;
export type MessageRow = JsonRow<'messages'>;
export type ToolCallRow = JsonRow<'tool_calls'>;
export type ToolResultRow = JsonRow<'tool_results'>;
export type UsageRow = JsonRow<'usage'>;
export type SourceRow = JsonRow<'sources'>;
export type IssueRow = JsonRow<'issues'>;
export type RawRow = JsonRow<'raw'>;
export type HistoryRow = JsonRow<'history'>;
/** A row as `read` gives it: `record` names its kind. */
export type ReadRow = AnyJsonRow;

interface Prepared {
  readonly options: Options;
  readonly plan: ReadPlan;
  readonly cursor: string | null;
}

function prepared(input: OptionsInput): Prepared {
  const options = parseOptions(input);
  return {
    options,
    plan: planRead(options, { env: process.env, platform: process.platform }),
    cursor: options.cursor === undefined ? null : resolve(options.cursor),
  };
}

/** Lists sources without reading them. Throws `UsageError`. */
export function discover(input: OptionsInput = {}): Discovery {
  const { options, plan } = prepared(input);
  if (options['sources-from'] !== undefined)
    throw new UsageError('discover does not read --sources-from; filter its sources by spec.path');
  return discoverChecked(plan.discovery);
}

/**
 * Writes rows to a stream, as `sessionlake stream` does: NDJSON or, for one table, Arrow. Rejects with `UsageError`, and
 * where the reader goes away.
 */
export async function stream(
  target: Writable,
  input: OptionsInput = {},
  listener: Listener = silent,
): Promise<ReportRecord> {
  const { options, plan, cursor } = prepared(input);
  const format = streamFormat(options, plan);
  const only = await sourceList(options['sources-from']);
  return reportRecord(await streamRows(plan, target, cursor, listener, only, format));
}

/**
 * Rows one by one, as objects. The value that the iterator returns at its end is the report. Memory stays flat however
 * slowly rows are taken; leaving the loop early stops the reading.
 */
export async function* read(
  input: OptionsInput = {},
  listener: Listener = silent,
): AsyncGenerator<ReadRow, ReportRecord, undefined> {
  const { options, plan, cursor } = prepared(input);
  if (options.format !== undefined)
    throw new UsageError('--format: read gives objects; stream and exportTo have formats');
  const only = await sourceList(options['sources-from']);
  const pipe = new PassThrough();
  const lines = pipe.pipe(split2());
  const done = streamRows(plan, pipe, cursor, listener, only).finally(() => pipe.end());
  done.catch((error: Error) => lines.destroy(error));
  try {
    for await (const line of lines as AsyncIterable<string>) yield JSON.parse(line) as ReadRow;
  } finally {
    // Left early or not: nothing of the reading is still under way afterwards.
    pipe.destroy();
    await done.catch(() => undefined);
  }
  return reportRecord(await done);
}

/** Options of what a lake looks like. */
export type LakeOptions = OptionsInput & { readonly out: string };

/** Writes a whole snapshot to the folder `out`, as `sessionlake export` does. Rejects with `UsageError`. */
export async function exportTo(input: LakeOptions, listener: Listener = silent): Promise<ReportRecord> {
  const { options, plan } = prepared(input);
  const target = lakeTarget(options, 'exportTo');
  const only = await sourceList(options['sources-from']);
  return reportRecord(await exportSnapshot(plan, target, listener, only));
}

/** Brings the lake in the folder `out` up to date, as `sessionlake sync` does. Rejects with `UsageError` and where it is locked. */
export async function sync(input: LakeOptions, listener: Listener = silent): Promise<ReportRecord> {
  const { options, plan, cursor } = prepared(input);
  const target = { ...lakeTarget(options, 'sync'), cursor };
  const only = await sourceList(options['sources-from']);
  return reportRecord(await syncLake(plan, target, listener, only));
}

/** Usage totals per day, agent and model. Days are those of the time zone given, else of the system's. */
export async function usage(input: OptionsInput = {}, listener: Listener = silent): Promise<UsageSummary> {
  const { options, plan } = prepared(input);
  const timeZone = options['time-zone'] ?? systemTimeZone();
  const only = await sourceList(options['sources-from']);
  return usageSummary(await usageTotals(plan, timeZone, listener, only), timeZone);
}

/** What commands and library functions give back besides rows: one form for `--json` and for callers. */
import { type Counted, countedColumns } from './ledger/normalize.ts';
import { exitStatus, type RunReport, type SourceProblem } from './pipeline/report.ts';
import type { UsageTotals } from './pipeline/usage-totals.ts';
import type { ReadStatus } from './records/summary.ts';
import type { TableName } from './records/tables.ts';

/** Raised when a key of the JSON that commands print changes its meaning; new keys do not raise it. */
export const FORMAT_VERSION = 1;

/** A source that was held back, or committed although some of its records are bad. */
export interface ProblemRecord {
  readonly agent: string;
  readonly source_path: string;
  readonly status: ReadStatus;
  readonly message: string;
  /** First damaged byte range, where there is one. */
  readonly byte_start: number | null;
  readonly byte_end: number | null;
}

/** Something that was found and passed by before anything was read. */
export interface PassedByRecord {
  readonly agent: string;
  readonly path: string;
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  readonly message: string;
}

/** How a run ended. */
export interface ReportRecord {
  readonly format_version: typeof FORMAT_VERSION;
  /** 0 all committed, 2 something was held back, 3 nothing could be committed. */
  readonly exit_status: 0 | 2 | 3;
  /** Sources read, by status. */
  readonly read: Readonly<Partial<Record<ReadStatus, number>>>;
  readonly unchanged: number;
  readonly held_back: readonly ProblemRecord[];
  readonly with_errors: readonly ProblemRecord[];
  readonly unsupported: number;
  readonly bytes: number;
  readonly rows: Readonly<Partial<Record<TableName, number>>>;
  /** Record types nobody knows, `agent/type`, with counts. */
  readonly unknown_types: Readonly<Record<string, number>>;
  readonly passed_by: readonly PassedByRecord[];
  readonly batches: readonly string[];
  /** Batches of an earlier, broken run that were brought to their end first. */
  readonly rolled_forward: number;
}

const problemRecord = ({ agent, path, status, message, byteStart, byteEnd }: SourceProblem): ProblemRecord => ({
  agent,
  source_path: path,
  status,
  message,
  byte_start: byteStart,
  byte_end: byteEnd,
});

/** The report of a run as it is given to programs. */
export const reportRecord = (report: RunReport): ReportRecord => ({
  format_version: FORMAT_VERSION,
  exit_status: exitStatus(report),
  read: report.read,
  unchanged: report.unchanged,
  held_back: report.heldBack.map(problemRecord),
  with_errors: report.withErrors.map(problemRecord),
  unsupported: report.unsupported,
  bytes: report.bytes,
  rows: report.rows,
  unknown_types: report.unknownTypes,
  passed_by: report.discoveryIssues,
  batches: report.batches,
  rolled_forward: report.rolledForward,
});

/** `input_tokens` from `counted_input_tokens`: totals are counted ones by themselves. */
type TotalName<Name extends keyof Counted> = Name extends `counted_${infer Rest}` ? Rest : never;
export type TokenTotals = { readonly [Name in keyof Counted as TotalName<Name>]: number | null };

/** Counted tokens of a day, agent and model. Input is uncached; output holds reasoning; null: never recorded. */
export interface UsageRecord extends TokenTotals {
  /** `YYYY-MM-DD`; null where replies have no time. */
  readonly day: string | null;
  readonly agent: string;
  readonly model: string | null;
  /** API replies counted. */
  readonly replies: number;
}

export interface UsageSummary
  extends Pick<ReportRecord, 'format_version' | 'exit_status' | 'held_back' | 'with_errors'> {
  /** Of the days. */
  readonly time_zone: string;
  /** By day, agent and model. */
  readonly totals: readonly UsageRecord[];
  readonly total: TokenTotals;
}

/** The sum of one counter over totals; null where none of them has it. */
export const sumOf = (totals: readonly Counted[], column: keyof Counted): number | null =>
  totals.reduce<number | null>((sum, total) => (total[column] === null ? sum : (sum ?? 0) + total[column]), null);

const tokens = (countOf: (column: keyof Counted) => number | null): TokenTotals =>
  Object.fromEntries(
    countedColumns.map((column) => [column.replace('counted_', ''), countOf(column)]),
  ) as unknown as TokenTotals;

/** Totals of usage as they are given to programs. */
export function usageSummary({ totals, report }: UsageTotals, timeZone: string): UsageSummary {
  const { format_version, exit_status, held_back, with_errors } = reportRecord(report);
  return {
    format_version,
    time_zone: timeZone,
    totals: totals.map((total) => ({
      day: total.day,
      agent: total.agent,
      model: total.model,
      replies: total.replies,
      ...tokens((column) => total[column]),
    })),
    total: tokens((column) => sumOf(totals, column)),
    exit_status,
    held_back,
    with_errors,
  };
}

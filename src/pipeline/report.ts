/** What a run tells while it goes and when it has ended: for people, and for programs that call the library. */

import type { DiscoveryIssue } from '../discovery/walker.ts';
import type { ReadStatus } from '../records/summary.ts';
import type { TableName } from '../records/tables.ts';

/** Told about progress; every method may do nothing. */
export interface Listener {
  /** A phase begins. `bytes` is what it will read, about; null = not known. */
  phase(name: 'looking' | 'linking' | 'reading' | 'writing', bytes: number | null): void;
  /** Called at times, with the bytes read so far in this phase. */
  progress(bytes: number): void;
}

export const silent: Listener = { phase: () => undefined, progress: () => undefined };

export interface SourceProblem {
  readonly agent: string;
  readonly path: string;
  readonly status: ReadStatus;
  readonly message: string;
  /** First damaged byte range, where there is one. */
  readonly byteStart: number | null;
  readonly byteEnd: number | null;
}

export interface RunReport {
  /** Sources read by this run, by status. */
  readonly read: Readonly<Partial<Record<ReadStatus, number>>>;
  readonly unchanged: number;
  readonly heldBack: readonly SourceProblem[];
  /** Sources that were committed although some of their records are bad. */
  readonly withErrors: readonly SourceProblem[];
  readonly unsupported: number;
  readonly bytes: number;
  readonly rows: Readonly<Partial<Record<TableName, number>>>;
  /** Record types nobody knows, `agent/type`, with counts. */
  readonly unknownTypes: Readonly<Record<string, number>>;
  readonly discoveryIssues: readonly DiscoveryIssue[];
  readonly batches: readonly string[];
  /** Batches of an earlier, broken run that were brought to their end first. */
  readonly rolledForward: number;
}

/** 0 all committed, 2 something was held back, 3 nothing could be committed. */
export function exitStatus(report: RunReport): 0 | 2 | 3 {
  if (report.heldBack.length === 0) return 0;
  const committed = Object.entries(report.read).reduce((n, [, count]) => n + count, 0) - report.heldBack.length;
  return committed + report.unchanged > 0 ? 2 : 3;
}

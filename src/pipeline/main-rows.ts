/** Rows that the main thread makes of outcomes: sources and issues. */
import type { FoundSource } from '../discovery/discovery.ts';
import type { DiscoveryIssue } from '../discovery/walker.ts';
import { sourceId } from '../records/identity.ts';
import type { IssueRow, SourceRow } from '../records/tables.ts';
import type { SourceOutcome } from './protocol.ts';

export interface Ingest {
  readonly host: string;
  readonly batchId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Counts of rows in `sources` are those that this read told; of a source that was held back, none were written. */
export function sourceRow(source: FoundSource, outcome: SourceOutcome, generation: number, ingest: Ingest): SourceRow {
  const { summary } = outcome;
  const told = (table: keyof typeof summary.rows): number => (outcome.passed ? (summary.rows[table] ?? 0) : 0);
  return {
    agent: source.agent.slug,
    source_id: source.sourceId,
    source_path: source.spec.path,
    host: ingest.host,
    store_kind: source.spec.storeKind,
    size: outcome.stat?.size ?? null,
    mtime: outcome.stat?.mtimeMs ?? null,
    status: summary.status,
    generation,
    records: summary.records,
    line_errors: summary.lineErrors,
    ignored_types: JSON.stringify(summary.ignoredTypes),
    unknown_types: JSON.stringify(summary.unknownTypes),
    last_complete_byte: summary.lastCompleteByte,
    session_rows: outcome.sessions.length,
    message_rows: told('messages'),
    tool_call_rows: told('tool_calls'),
    tool_result_rows: told('tool_results'),
    usage_rows: told('usage'),
    decoder_version: source.agent.formats[source.spec.storeKind]?.decoderVersion ?? 0,
    batch_id: ingest.batchId,
    ingested_at: ingest.at,
  };
}

export const discoveryIssueRow = (issue: DiscoveryIssue, host: string): IssueRow => ({
  agent: issue.agent,
  source_id: sourceId(host, issue.agent, issue.path),
  severity: issue.severity,
  code: issue.code,
  message: `${issue.path}: ${issue.message}`,
  ordinal: null,
  byte_start: null,
  byte_end: null,
});

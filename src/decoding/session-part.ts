/** A session as one of its sources tells it, and the row that all of them give together. */
import type { SessionFields } from '../agents/agent.ts';
import type { SessionRow } from '../records/tables.ts';
import type { SessionTally } from './tally.ts';

/** JSON-able. */
export interface SessionPart {
  readonly agent: string;
  readonly sourceId: string;
  readonly sourcePath: string;
  readonly host: string;
  readonly fields: SessionFields;
  readonly tally: SessionTally;
}

const first = <T>(values: readonly (T | null | undefined)[]): T | null =>
  values.find((v) => v !== null && v !== undefined) ?? null;
const last = <T>(values: readonly (T | null | undefined)[]): T | null => first([...values].reverse());
const total = (values: readonly (number | null | undefined)[]): number | null => {
  const known = values.filter((v) => v !== null && v !== undefined);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
};
const least = (values: readonly (number | null)[]): number | null =>
  values.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
const greatest = (values: readonly (number | null)[]): number | null =>
  values.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);

/**
 * The session row of all parts of one session, given in order of source. Facts of the start come from the first part
 * that knows them, titles and models from the last; counts add up.
 */
export function mergeSessionParts(parts: readonly SessionPart[], generation: number, revision: number): SessionRow {
  const head = parts[0];
  if (head === undefined) throw new Error('a session has at least one part');
  const fields = parts.map((part) => part.fields);
  const tallies = parts.map((part) => part.tally);
  const extra: Record<string, unknown> = {};
  for (const field of fields) Object.assign(extra, field.extra ?? {});
  const usage = tallies.some((t) => t.usage === 'per_reply') ? 'per_reply' : first(tallies.map((t) => t.usage));
  return {
    agent: head.agent,
    session_id: head.fields.session_id,
    source_id: head.sourceId,
    source_path: head.sourcePath,
    host: head.host,
    parent_session_id: first(fields.map((f) => f.parent_session_id)),
    kind: first(fields.map((f) => f.kind)),
    origin: first(fields.map((f) => f.origin)),
    title: last(fields.map((f) => f.title)),
    cwd: first(fields.map((f) => f.cwd)),
    git_branch: first(fields.map((f) => f.git_branch)),
    git_commit: first(fields.map((f) => f.git_commit)),
    agent_version: first(fields.map((f) => f.agent_version)),
    model: last(tallies.map((t) => t.lastModel)),
    models: [...new Set(tallies.flatMap((t) => t.models))],
    started_at: least(tallies.map((t) => t.startedAt)),
    ended_at: greatest(tallies.map((t) => t.endedAt)),
    message_count: total(tallies.map((t) => t.messages)) ?? 0,
    user_message_count: total(tallies.map((t) => t.userMessages)) ?? 0,
    tool_call_count: total(tallies.map((t) => t.toolCalls)) ?? 0,
    reported_input_tokens: total(fields.map((f) => f.reported_input_tokens)),
    reported_output_tokens: total(fields.map((f) => f.reported_output_tokens)),
    reported_cache_read_tokens: total(fields.map((f) => f.reported_cache_read_tokens)),
    reported_cache_write_tokens: total(fields.map((f) => f.reported_cache_write_tokens)),
    reported_reasoning_tokens: total(fields.map((f) => f.reported_reasoning_tokens)),
    reported_total_tokens: total(fields.map((f) => f.reported_total_tokens)),
    reported_cost_usd: total(fields.map((f) => f.reported_cost_usd)),
    usage_state: usage ?? 'not_recorded',
    resume_command: last(fields.map((f) => f.resume_command)),
    extra: Object.keys(extra).length === 0 ? null : JSON.stringify(extra),
    generation,
    revision,
  };
}

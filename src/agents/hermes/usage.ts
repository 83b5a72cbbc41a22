/**
 * Usage is kept per session, by the writer's definition in disjoint buckets, output with its reasoning. Rows by model
 * are the same tokens again, but for those of tasks beside the conversation (titles, compaction …), which are in no sum.
 */
import type { Position } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { CounterReader } from '../dialects/counters.ts';
import { isZeroed } from '../dialects/emitters.ts';
import { field, type Json, nameField, numberField, stringField } from '../dialects/json.ts';
import { eventAt, NO_TIME, type Time, usageObservation } from '../dialects/rows.ts';

/** Tasks that are turns of the conversation, and in its own counters (`hermes_state_usage.py`). */
const TURNS = new Set(['', 'voice_chat']);

export const isBeside = (row: Json): boolean => !TURNS.has(stringField(row, 'task') ?? '');

interface Place {
  readonly sessionId: string;
  readonly position: Position;
}

const COUNTERS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const;

/**
 * The session's own counters, by model as far as rows say so: those written by programs that only know sums are in no
 * row. Rows that hold more than the session are not believed. Returns whether anything was used.
 */
export function tellSession(
  row: Json,
  turns: readonly { readonly row: Json; readonly position: Position }[],
  { sessionId, position }: Place,
  out: Emitter,
): boolean {
  const model = nameField(row, 'model');
  const time = timeOf(row);
  const whole = { sessionId, position, nativeId: 'session', time };
  const isOne = turns.every((turn) => nameField(turn.row, 'model') === model);
  const rest = restOf(
    row,
    turns.map((turn) => turn.row),
  );
  if (isOne || rest === null) return tell(row, { ...whole, model: isOne ? model : null }, out);
  // The session's present model last: it is the one that the session goes by.
  const isPresent = (turn: { readonly row: Json }): number => Number(nameField(turn.row, 'model') === model);
  for (const turn of [...turns].sort((a, b) => isPresent(a) - isPresent(b)))
    tellTask(turn.row, { sessionId, position: turn.position }, time, out);
  tell(rest, { ...whole, model: null }, out);
  return true;
}

/** When the counters of a session stood so: as late as its row says. */
export const timeOf = (session: Json): Time =>
  [field(session, 'ended_at'), field(session, 'last_activity_at'), field(session, 'started_at')]
    .map((value) => epochTime(value, 's'))
    .find(({ timestamp }) => timestamp !== null) ?? NO_TIME;

/** What rows leave of the session's counters; null where they hold more. */
function restOf(row: Json, rows: readonly Json[]): Json | null {
  const rest: Record<string, unknown> = {};
  for (const counter of COUNTERS) {
    const whole = numberField(row, counter);
    const left = (whole ?? 0) - rows.reduce((sum, part) => sum + (numberField(part, counter) ?? 0), 0);
    if (left < 0) return null;
    rest[counter] = whole === null ? null : left;
  }
  return rest;
}

/** What a model used for a task, or for turns of the conversation. `time`: where the row has none. */
export function tellTask(row: Json, place: Place, time: Time, out: Emitter): boolean {
  const parts = ['task', 'model', 'billing_provider', 'billing_base_url', 'billing_mode'];
  const nativeId = `task ${JSON.stringify(parts.map((part) => stringField(row, part) ?? ''))}`;
  const model = nameField(row, 'model');
  const own = epochTime(field(row, 'last_seen'), 's');
  const at = own.timestamp === null ? time : own;
  return tell(row, { ...place, nativeId, model: model === 'unknown' ? null : model, time: at }, out);
}

function tell(
  row: Json,
  place: Place & { readonly nativeId: string; readonly model: string | null; readonly time: Time },
  out: Emitter,
): boolean {
  const { sessionId, nativeId, position, model, time } = place;
  const reader = new CounterReader(out, position);
  const observation = usageObservation({
    model,
    provider: nameField(row, 'billing_provider'),
    input_tokens: reader.read(row, 'input_tokens'),
    output_tokens: reader.read(row, 'output_tokens'),
    cache_read_tokens: reader.read(row, 'cache_read_tokens'),
    cache_write_tokens: reader.read(row, 'cache_write_tokens'),
    reasoning_tokens: reader.read(row, 'reasoning_tokens'),
    input_includes_cache_read: false,
    input_includes_cache_write: false,
    output_includes_reasoning: true,
    reported_cost_usd: numberField(row, 'actual_cost_usd') ?? numberField(row, 'estimated_cost_usd'),
    basis: 'session_total',
    state: 'unknown',
    key: null,
  });
  // Zeros are what a new row begins with.
  if (isZeroed(observation) && (numberField(row, 'api_call_count') ?? 0) === 0) return false;
  out.usage(eventAt(sessionId, nativeId, 'usage', position, time), observation);
  return true;
}

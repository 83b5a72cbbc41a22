/**
 * Usage is kept per session, by the writer's definition in disjoint buckets, output with its reasoning. Rows by model
 * are the same tokens again, but for those of tasks beside the conversation (titles, compaction …).
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

/** The session's own counters. `model`: null where several models share them. Whether there were any is returned. */
export function tellSession(row: Json, model: string | null, place: Place, out: Emitter): boolean {
  const time = [field(row, 'ended_at'), field(row, 'last_activity_at'), field(row, 'started_at')]
    .map((value) => epochTime(value, 's'))
    .find(({ timestamp }) => timestamp !== null);
  return tell(row, { ...place, nativeId: 'session', model, time: time ?? NO_TIME }, out);
}

/** What a task beside the conversation used. */
export function tellTask(row: Json, place: Place, out: Emitter): boolean {
  const parts = ['task', 'model', 'billing_provider', 'billing_base_url', 'billing_mode'];
  const nativeId = `task ${JSON.stringify(parts.map((part) => stringField(row, part) ?? ''))}`;
  const model = nameField(row, 'model');
  const time = epochTime(field(row, 'last_seen'), 's');
  return tell(row, { ...place, nativeId, model: model === 'unknown' ? null : model, time }, out);
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

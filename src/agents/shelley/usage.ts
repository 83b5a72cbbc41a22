/** Usage of a row: of the reply that it is, and of further calls that were made for it. Buckets are disjoint as stored. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, EventAt } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { isZeroed } from '../dialects/emitters.ts';
import { type Json, nameField, numberField } from '../dialects/json.ts';
import { usageObservation } from '../dialects/rows.ts';

export interface UsagePlace {
  readonly at: (slot: string) => EventAt;
  readonly position: Position;
  readonly messageId: string | null;
  /** The model that the row names. */
  readonly model: string | null;
}

/** `number`: which of the further calls; null for the reply itself. Zeros mean that there was no call. */
export function tellUsage(usage: Json, number: number | null, place: UsagePlace, out: Emitter): void {
  const { at, position, messageId, model } = place;
  const reader = new CounterReader(out, position);
  const observation = usageObservation({
    message_id: number === null ? messageId : null,
    model: (number === null ? model : null) ?? nameField(usage, 'model'),
    input_tokens: reader.read(usage, 'input_tokens'),
    output_tokens: reader.read(usage, 'output_tokens'),
    cache_read_tokens: reader.read(usage, 'cache_read_input_tokens'),
    cache_write_tokens: reader.read(usage, 'cache_creation_input_tokens'),
    reported_cost_usd: numberField(usage, 'cost_usd'),
    input_includes_cache_read: false,
    input_includes_cache_write: false,
    output_includes_reasoning: null,
    basis: 'native',
    key: messageId === null ? null : number === null ? messageId : `${messageId} further ${number}`,
  });
  if (isZeroed(observation)) return;
  out.usage(at(number === null ? 'usage' : `usage:further:${number}`), observation);
}

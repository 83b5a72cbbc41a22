/** Messages and parts are those of OpenCode; usage is in a ledger, of which messages hold a mirror. */
import type { Frame } from '../../framing/frame.ts';
import type { Decoder, Emitter, FormatCode } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { CounterReader } from '../dialects/counters.ts';
import { isZeroed, relabelled } from '../dialects/emitters.ts';
import { asObject, nameField } from '../dialects/json.ts';
import { eventAt, usageObservation } from '../dialects/rows.ts';
import { databaseFormat } from '../opencode/format.ts';
import { queryRows } from './sessions.ts';

const messages = relabelled(databaseFormat({ resume: null }), ({ source }) =>
  source.hints['hasLedger'] === true ? { usage: () => null } : {},
);

export const databaseCode: FormatCode = {
  query: queryRows,
  decoder: (context, out): Decoder => {
    const inner = messages.decoder(context, out);
    return {
      frame(frame) {
        if (frame.locator?.startsWith('model_usage/')) tellRequest(frame, context.source.name, out);
        else inner.frame(frame);
      },
      finish: () => inner.finish(),
    };
  },
};

/** Input is the whole prompt, with what came from cache and went there; the total shows where reasoning stands. */
function tellRequest(frame: Frame, sessionId: string, out: Emitter): void {
  const row = asObject(frame.json());
  if (row === null) return;
  const position = frame.position();
  const reader = new CounterReader(out, position);
  const input = reader.read(row, 'input_tokens');
  const output = reader.read(row, 'output_tokens');
  const reasoning = reader.read(row, 'reasoning_tokens');
  const total = reader.read(row, 'computed_total_tokens');
  const isOutside = total !== null && (reasoning ?? 0) > 0 && total === (input ?? 0) + (output ?? 0) + (reasoning ?? 0);
  const ended = epochTime(row['completed_at'], 'ms');
  const observation = usageObservation({
    model: nameField(row, 'model_id'),
    provider: nameField(row, 'provider_id'),
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cache_read_tokens: reader.read(row, 'cache_read_input_tokens'),
    cache_write_tokens: reader.read(row, 'cache_creation_input_tokens'),
    total_tokens: total,
    input_includes_cache_read: true,
    input_includes_cache_write: true,
    output_includes_reasoning: !isOutside,
    basis: 'native',
    key: null,
  });
  if (isZeroed(observation)) return;
  const time = ended.timestamp === null ? epochTime(row['started_at'], 'ms') : ended;
  out.usage(eventAt(sessionId, frame.locator, 'usage', position, time), observation);
}

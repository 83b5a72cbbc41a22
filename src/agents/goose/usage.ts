/**
 * Usage: a row of the ledger for each request, and, where the session's own sums hold more (an older version went on
 * with the database, or the session was imported), one more row for the rest. Counters on messages are a display copy.
 */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { type Json, nameField, numberField } from '../dialects/json.ts';
import { eventAt, NO_TIME, type Time, usageObservation } from '../dialects/rows.ts';

export interface LedgerSums {
  rows: number;
  input: number;
  output: number;
  /** null: no row has the counter. */
  cacheRead: number | null;
  cacheWrite: number | null;
}

/** Input is the whole prompt, with what came from cache and went there (schema 14 on); reasoning is inside output. */
const OVERLAP = {
  input_includes_cache_read: true,
  input_includes_cache_write: true,
  output_includes_reasoning: true,
} as const;

export function tellLedgerRow(
  found: { sessionId: string; id: string; row: Json; position: Position; time: Time },
  sums: LedgerSums,
  out: Emitter,
): void {
  const { row, position } = found;
  const reader = new CounterReader(out, position);
  const input = reader.read(row, 'input_tokens');
  const output = reader.read(row, 'output_tokens');
  const cacheRead = reader.read(row, 'cache_read_tokens');
  const cacheWrite = reader.read(row, 'cache_write_tokens');
  sums.rows++;
  sums.input += input ?? 0;
  sums.output += output ?? 0;
  if (cacheRead !== null) sums.cacheRead = (sums.cacheRead ?? 0) + cacheRead;
  if (cacheWrite !== null) sums.cacheWrite = (sums.cacheWrite ?? 0) + cacheWrite;
  out.usage(
    eventAt(found.sessionId, `ledger ${found.id}`, 'usage', position, found.time),
    usageObservation({
      ...OVERLAP,
      model: nameField(row, 'model'),
      input_tokens: input,
      output_tokens: output,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      total_tokens: reader.read(row, 'total_tokens'),
      reported_cost_usd: numberField(row, 'cost'),
      basis: 'native',
      key: null,
    }),
  );
}

export function tellAccumulated(
  found: { sessionId: string; row: Json; position: Position },
  sums: LedgerSums,
  out: Emitter,
): void {
  const { row, position } = found;
  const reader = new CounterReader(out, position);
  const input = reader.read(row, 'accumulated_input_tokens');
  const output = reader.read(row, 'accumulated_output_tokens');
  const cacheRead = reader.read(row, 'accumulated_cache_read_tokens');
  const cacheWrite = reader.read(row, 'accumulated_cache_write_tokens');
  const beyond = (whole: number | null, known: number): number | null =>
    whole === null ? null : Math.max(0, whole - known);
  // Beside rows that do not know their cache, the sum is 0 by default and no figure.
  const cache = (whole: number | null, known: number | null): number | null =>
    sums.rows > 0 && known === null ? null : beyond(whole, known ?? 0);
  const rest: Pick<UsageObservation, 'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens'> = {
    input_tokens: beyond(input, sums.input),
    output_tokens: beyond(output, sums.output),
    cache_read_tokens: cache(cacheRead, sums.cacheRead),
    cache_write_tokens: cache(cacheWrite, sums.cacheWrite),
  };
  if (!Object.values(rest).some((value) => value !== null && value > 0)) return;
  out.usage(
    eventAt(found.sessionId, 'accumulated', 'usage', position, NO_TIME),
    usageObservation({
      ...OVERLAP,
      ...rest,
      reported_cost_usd: sums.rows === 0 ? numberField(row, 'accumulated_cost') : null,
      basis: 'session_total',
      state: 'unknown',
      key: null,
    }),
  );
}

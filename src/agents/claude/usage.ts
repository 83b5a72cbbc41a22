/** What a reply cost, as its rows tell it: `message.usage`, repeated on every row of the reply, early ones partial. */
import type { Frame } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import type { Row } from './row.ts';

/** The usage of one row. JSON-able. */
export interface UsageSample {
  /** `input_tokens`, which excludes cache reads and writes. */
  readonly input: number | null;
  /** `output_tokens`, which includes thinking. */
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly cacheWrite1h: number | null;
  readonly reasoning: number | null;
  readonly serviceTier: string | null;
  readonly model: string | null;
  readonly requestId: string | null;
  readonly costUsd: number | null;
  /** Whether the row is this session's own by its own look; see `Standing`. */
  readonly isNative: boolean;
  /** Whether another request id under the same message id tells another reply. */
  readonly tellsRequests: boolean;
  /** Whether the reply had ended when the row was written. */
  readonly hasEnded: boolean;
  /** Whether the row's version writes the final count at all. */
  readonly version: string | null;
}

/** How a row stands to its file. */
export interface Standing {
  readonly isNative: boolean;
  /** False for sidechains and agent files, which replay replies of their parent under request ids of their own. */
  readonly tellsRequests: boolean;
}

/** A reply that no model gave: the client's own error or notice. Its counters are zeros that nobody was billed. */
export const isSynthetic = (row: Row): boolean =>
  row.equals('message.model', '<synthetic>') || row.isTrue('isApiErrorMessage');

/** Usage of an assistant row; null where it records none. */
export function readUsage(row: Row, standing: Standing): UsageSample | null {
  const input = row.number('message.usage.input_tokens');
  const output = row.number('message.usage.output_tokens');
  const cacheRead = row.number('message.usage.cache_read_input_tokens');
  const cacheWrite = row.number('message.usage.cache_creation_input_tokens');
  if (input === null && output === null && cacheRead === null && cacheWrite === null) return null;
  if (isSynthetic(row)) return null;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    cacheWrite1h: row.number('message.usage.cache_creation.ephemeral_1h_input_tokens'),
    reasoning: row.number('message.usage.output_tokens_details.thinking_tokens'),
    serviceTier: row.id('message.usage.service_tier'),
    model: row.id('message.model'),
    requestId: row.id('requestId'),
    costUsd: row.number('costUSD'),
    isNative: standing.isNative,
    tellsRequests: standing.tellsRequests,
    hasEnded: row.id('message.stop_reason') !== null,
    version: row.id('version'),
  };
}

const COUNTERS = [
  'message.usage.input_tokens',
  'message.usage.output_tokens',
  'message.usage.cache_read_input_tokens',
  'message.usage.cache_creation_input_tokens',
  'message.usage.cache_creation.ephemeral_1h_input_tokens',
  'message.usage.output_tokens_details.thinking_tokens',
] as const;

/** Reports what has the wrong type in a row's usage, once: such a counter is not told, and the reply's sum is short. */
export function reportUsageFault(row: Row, out: Emitter, frame: Frame): void {
  if (!row.has('message.usage')) return;
  const wrong = row.isObject('message.usage')
    ? COUNTERS.find((counter) => row.has(counter) && row.number(counter) === null)
    : 'message.usage';
  if (wrong === undefined) return;
  const what = wrong === 'message.usage' ? 'is no object' : 'is not a number';
  out.badRecord(frame.position(), 'wrong_type', `${wrong} ${what}`);
}

/**
 * What two rows say together of their reply: the counters of the one with the greater output, the later one of equals,
 * since rows flushed early keep the count of the reply's start. The reply has ended, is this session's own and has a
 * request id if one of them says so; a sidechain's own request id gives way.
 */
export function mergeSamples(known: UsageSample, next: UsageSample): UsageSample {
  const best = (next.output ?? -1) >= (known.output ?? -1) ? next : known;
  const other = best === next ? known : next;
  const named = best.tellsRequests || !other.tellsRequests ? best : other;
  return {
    ...best,
    model: best.model ?? other.model,
    requestId: named.requestId ?? other.requestId,
    tellsRequests: named.tellsRequests,
    isNative: best.isNative || other.isNative,
    hasEnded: best.hasEnded || other.hasEnded,
  };
}

/**
 * Without a stop reason the count is that of the reply's start in versions from 2 on (2.0.76 never stores another);
 * what older ones store is not known.
 */
const stateOf = (sample: UsageSample): UsageObservation['state'] => {
  if (sample.hasEnded) return 'final';
  return sample.version === null || /^[01]\./.test(sample.version) ? 'unknown' : 'partial';
};

/** `key` is the message id, which is unique over all files; without one, the row's uuid or nothing. */
export function toObservation(
  sample: UsageSample,
  messageId: string | null,
  key: string | null,
  isCopy: boolean,
): UsageObservation {
  return {
    message_id: messageId,
    request_id: sample.requestId,
    model: sample.model,
    provider: null,
    input_tokens: sample.input,
    output_tokens: sample.output,
    cache_read_tokens: sample.cacheRead,
    cache_write_tokens: sample.cacheWrite,
    cache_write_1h_tokens: sample.cacheWrite1h,
    reasoning_tokens: sample.reasoning,
    total_tokens: null,
    input_includes_cache_read: false,
    input_includes_cache_write: false,
    output_includes_reasoning: true,
    reported_cost_usd: sample.costUsd,
    service_tier: sample.serviceTier,
    basis: 'native',
    state: stateOf(sample),
    key,
    variant: sample.tellsRequests ? sample.requestId : null,
    native: sample.isNative && !isCopy,
  };
}

const COMPACTION = Buffer.from('"compaction"');
const ADVISOR = Buffer.from('"advisor_message"');

/**
 * Whether the row records spend beyond its own counters, which is in no counter of the table: earlier parts of a paused
 * reply, and iterations of type `compaction` or `advisor_message` (those of type `message` restate the counters).
 */
export const hasUncountedUsage = (row: Row): boolean =>
  row.has('message.pausedResponses') ||
  (row.has('message.usage.iterations') &&
    (row.rawIncludes('message.usage.iterations', COMPACTION) || row.rawIncludes('message.usage.iterations', ADVISOR)));

/**
 * Usage for totals: every row of a reply is told as it stands, and the ledger, which counts a key once, does the rest.
 * No outline is needed for that: what it knows (branches, twins, which rows belong together) changes no sum.
 */

import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { factsOf } from './links.ts';
import { Row } from './row.ts';
import { mergeSamples, readUsage, reportUsageFault, toObservation, type UsageSample } from './usage.ts';

/** Replies whose first row is remembered: more are never under way at once. */
const REMEMBERED = 256;

export class UsageTotalsDecoder implements Decoder {
  private readonly row = new Row('strict');
  private readonly sessionId: string;
  private readonly isAgent: boolean;
  private readonly out: Emitter;
  /** Time of the first row of recent replies: the day a reply counts for. */
  private readonly begun = new Map<string, { timestamp: number | null; timestampText: string | null }>();
  /** The reply of the last row, with what its rows in a row say together. */
  private last: {
    key: string;
    requestId: string | null;
    messageId: string | null;
    sample: UsageSample;
    frame: ReturnType<Frame['position']>;
  } | null = null;

  constructor(context: DecodeContext, out: Emitter) {
    const { sessionId, isAgent } = factsOf(context.source);
    this.sessionId = sessionId;
    this.isAgent = isAgent;
    this.out = out;
  }

  frame(frame: Frame): void {
    const { row, isAgent } = this;
    // Reports what is wrong with a line that was drained for its size, or is no JSON.
    if (frame.oversized === true || !row.read(frame.bytes())) {
      frame.json();
      return;
    }
    if (row.kind !== 'assistant' || !row.isObject('message')) return;
    const isNative = isAgent ? !row.isObject('forkedFrom') : !row.looksCopied(this.sessionId);
    const tellsRequests = !isAgent && !row.isTrue('isSidechain');
    reportUsageFault(row, this.out, frame);
    const sample = readUsage(row, { isNative, tellsRequests });
    if (sample === null) return;
    const messageId = row.id('message.id');
    const key = messageId ?? row.id('uuid');
    const { last } = this;
    if (
      key !== null &&
      last !== null &&
      last.key === key &&
      (last.requestId ?? sample.requestId) === (sample.requestId ?? last.requestId)
    ) {
      last.sample = mergeSamples(last.sample, sample);
      last.requestId ??= sample.requestId;
      return;
    }
    this.tell();
    const position = frame.position();
    const timestampText = row.text('timestamp');
    const time = { timestamp: parseIsoTime(timestampText), timestampText };
    if (key === null) {
      this.out.usage(this.at(position, time), toObservation(sample, null, null, false));
      return;
    }
    if (!this.begun.has(key)) this.remember(key, time);
    this.last = { key, requestId: sample.requestId, messageId, sample, frame: position };
  }

  finish(): void {
    this.tell();
  }

  private tell(): void {
    const { last } = this;
    if (last === null) return;
    this.last = null;
    const time = this.begun.get(last.key) ?? { timestamp: null, timestampText: null };
    this.out.usage(this.at(last.frame, time), toObservation(last.sample, last.messageId, last.key, false));
  }

  private remember(key: string, time: { timestamp: number | null; timestampText: string | null }): void {
    if (this.begun.size >= REMEMBERED) this.begun.delete(this.begun.keys().next().value!);
    this.begun.set(key, time);
  }

  private at(
    position: ReturnType<Frame['position']>,
    time: { timestamp: number | null; timestampText: string | null },
  ) {
    return { sessionId: this.sessionId, nativeId: null, slot: 'usage', position, ...time };
  }
}

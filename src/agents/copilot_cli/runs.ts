/**
 * Usage of a log. Requests themselves are not on disk; what is: totals at the end of a process run (`shutdown`), which
 * from 1.0.66 on contain those of the run before; the output of each reply; and, in the newest builds, receipts.
 */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { asObject, type Json, nameField, objectField } from '../dialects/json.ts';
import { eventAt, type Time, usageObservation } from '../dialects/rows.ts';

export interface Counters {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly reasoning: number | null;
}

export type Metrics = ReadonlyMap<string, Counters>;

const KEYS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const;

export function readCounters(usage: Json, out: Emitter, position: Position): Counters {
  const reader = new CounterReader(out, position);
  return {
    input: reader.read(usage, 'inputTokens'),
    output: reader.read(usage, 'outputTokens'),
    cacheRead: reader.read(usage, 'cacheReadTokens'),
    cacheWrite: reader.read(usage, 'cacheWriteTokens'),
    reasoning: reader.read(usage, 'reasoningTokens'),
  };
}

export function readMetrics(shutdown: Json, out: Emitter, position: Position): Metrics {
  const metrics = new Map<string, Counters>();
  for (const [model, value] of Object.entries(objectField(shutdown, 'modelMetrics') ?? {})) {
    const entry = asObject(value);
    const usage = entry === null ? null : objectField(entry, 'usage');
    if (usage !== null) metrics.set(model, readCounters(usage, out, position));
  }
  return metrics;
}

const outputOf = (metrics: Metrics): number =>
  [...metrics.values()].reduce((n, counters) => n + (counters.output ?? 0), 0);

/** Whether no counter of `before` is greater than the same one of `after`. */
const mayContain = (after: Metrics, before: Metrics): boolean =>
  [...before].every(([model, counters]) => KEYS.every((key) => (counters[key] ?? 0) <= (after.get(model)?.[key] ?? 0)));

function without(after: Metrics, before: Metrics): Metrics {
  const rest = new Map<string, Counters>();
  for (const [model, counters] of after) {
    const earlier = before.get(model);
    const minus = (key: keyof Counters): number | null =>
      counters[key] === null ? null : counters[key] - (earlier?.[key] ?? 0);
    rest.set(model, {
      input: minus('input'),
      output: minus('output'),
      cacheRead: minus('cacheRead'),
      cacheWrite: minus('cacheWrite'),
      reasoning: minus('reasoning'),
    });
  }
  return rest;
}

/** What is known of one process run. */
class Run {
  /** Envelope id of the event that began it. */
  readonly id: string;
  /** Output by request; by model, for requests that have none of a shutdown. */
  readonly replies = new Map<string, { readonly model: string | null; output: number }>();
  position: Position | null = null;
  time: Time | null = null;

  constructor(id: string) {
    this.id = id;
  }

  get output(): number {
    return [...this.replies.values()].reduce((n, reply) => n + reply.output, 0);
  }
}

export class RunLedger {
  private readonly out: Emitter;
  private run = new Run('');
  /** The last totals since the session began: what the next ones may contain. */
  private before: Metrics | null = null;
  private isCumulative = false;
  private readonly hasReceipts: boolean;
  private sawReceipt = false;
  private snapshot: { metrics: Metrics; position: Position; time: Time } | null = null;
  private readonly received = new Map<string, Counters>();
  private readonly seenReceipts = new Set<string>();

  constructor(out: Emitter, hasReceipts: boolean) {
    this.out = out;
    this.hasReceipts = hasReceipts;
  }

  /** A version that is known to keep its totals over a resume. */
  setVersion(version: string | null): void {
    const parts = /^(\d+)\.(\d+)\.(\d+)/
      .exec(version ?? '')
      ?.slice(1)
      .map(Number) ?? [0, 0, 0];
    const [major, minor, patch] = parts as [number, number, number];
    if (major > 1 || (major === 1 && (minor > 0 || patch >= 66))) this.isCumulative = true;
  }

  sawCheckpoint(): void {
    this.isCumulative = true;
  }

  /** A new process: `start` of the session, or a resume. */
  begin(id: string, isStart: boolean, sessionId: string): void {
    this.endOpenRun(sessionId);
    this.run = new Run(id);
    if (isStart) this.before = null;
  }

  reply(key: string, model: string | null, output: number, position: Position, time: Time): void {
    const known = this.run.replies.get(key);
    if (known === undefined) this.run.replies.set(key, { model, output });
    else known.output = Math.max(known.output, output);
    this.run.position = position;
    this.run.time = time;
  }

  shutdown(data: Json, eventId: string, isCopy: boolean, position: Position, time: Time, sessionId: string): void {
    const metrics = readMetrics(data, this.out, position);
    if (metrics.size === 0) return;
    const isSnapshot =
      objectField(data, 'usageAccountingWatermarks') !== null || Array.isArray(data['usageAccountingWatermarks']);
    if (this.hasReceipts && (isSnapshot || this.sawReceipt)) {
      if (!isCopy) this.snapshot = { metrics, position, time };
      this.before = metrics;
      this.run = new Run(eventId);
      return;
    }
    const { before } = this;
    const contains =
      before !== null &&
      mayContain(metrics, before) &&
      (this.isCumulative || outputOf(metrics) - outputOf(before) === this.run.output);
    const added = contains ? without(metrics, before) : metrics;
    this.before = metrics;
    if (!isCopy) {
      this.tellRun(added, position, time, sessionId);
    }
    this.run = new Run(eventId);
  }

  /** A request with counters of its own, once. */
  receipt(usage: Json, eventId: string, position: Position, time: Time, sessionId: string): void {
    this.sawReceipt = true;
    const accounting = objectField(usage, 'accounting');
    const source = accounting === null ? null : nameField(accounting, 'sourceSessionId');
    const key = source === null ? eventId : `${source} ${String(accounting!['sequence'])}`;
    if (this.seenReceipts.has(key)) return;
    this.seenReceipts.add(key);
    const model = nameField(usage, 'model');
    const counters = readCounters(usage, this.out, position);
    this.count(model ?? '', counters);
    this.tell(
      { model, counters, basis: 'native', state: 'final', key, slot: 'usage', nativeId: eventId },
      position,
      time,
      sessionId,
    );
  }

  /** The request of a compaction is in no total of a run. */
  compaction(usage: Json, eventId: string, position: Position, time: Time, sessionId: string): void {
    if (this.hasReceipts || usage['inputTokens'] === undefined) return;
    const counters = readCounters(usage, this.out, position);
    const model = nameField(usage, 'model');
    this.tell(
      { model, counters, basis: 'native', state: 'final', key: eventId, slot: 'usage', nativeId: eventId },
      position,
      time,
      sessionId,
    );
  }

  finish(sessionId: string): void {
    this.endOpenRun(sessionId);
    if (this.snapshot !== null) this.tellMissing(this.snapshot, sessionId);
  }

  /** A run that was killed, or is still going on: the output of its replies is all that is known. */
  private endOpenRun(sessionId: string): void {
    const { position, time } = this.run;
    if (position !== null && time !== null && !(this.hasReceipts && this.sawReceipt))
      this.tellRun(new Map(), position, time, sessionId);
  }

  /**
   * A rewind forgets requests whose replies are still in the log, so that the output of a run is what its totals say or
   * what its replies add up to, whichever is more. Rows have the same identity before and after the totals are written.
   */
  private tellRun(added: Metrics, position: Position, time: Time, sessionId: string): void {
    const { run } = this;
    const byModel = new Map<string, number>();
    for (const { model, output } of run.replies.values())
      byModel.set(model ?? '', (byModel.get(model ?? '') ?? 0) + output);
    const key = (model: string): string => JSON.stringify([sessionId, run.id, model]);
    const row = (model: string, counters: Counters, isKnown: boolean): void => {
      if (this.hasReceipts) this.count(model, counters);
      this.tell(
        {
          model: model === '' ? null : model,
          counters,
          basis: isKnown ? 'cumulative_delta' : 'last_sample',
          state: isKnown ? 'final' : 'partial',
          key: key(model),
          slot: `usage:${model}`,
          nativeId: run.id === '' ? null : `run ${run.id}`,
        },
        position,
        time,
        sessionId,
      );
    };
    if (added.size === 0) {
      for (const [model, output] of byModel) row(model, { ...UNKNOWN, output }, false);
      return;
    }
    for (const [model, counters] of added) row(model, counters, true);
    // Told by its replies before the totals were there, and of another model now: nothing of it is left.
    for (const model of byModel.keys()) if (!added.has(model)) row(model, { ...UNKNOWN, output: 0 }, false);
    const missing = run.output - outputOf(added);
    if (missing > 0) row('(rewound)', { ...UNKNOWN, output: missing }, false);
  }

  private count(model: string, counters: Counters): void {
    const before = this.received.get(model) ?? UNKNOWN;
    const plus = (key: keyof Counters): number | null =>
      counters[key] === null ? before[key] : (before[key] ?? 0) + counters[key];
    this.received.set(model, {
      input: plus('input'),
      output: plus('output'),
      cacheRead: plus('cacheRead'),
      cacheWrite: plus('cacheWrite'),
      reasoning: plus('reasoning'),
    });
  }

  /** What the last snapshot holds beyond the receipts. */
  private tellMissing(
    { metrics, position, time }: { metrics: Metrics; position: Position; time: Time },
    sessionId: string,
  ): void {
    const known: Metrics = this.received;
    if (outputOf(metrics) <= outputOf(known)) return;
    for (const [model, counters] of without(metrics, known)) {
      const positive = Object.fromEntries(
        KEYS.map((key) => [key, counters[key] === null ? null : Math.max(0, counters[key])]),
      ) as unknown as Counters;
      this.tell(
        {
          model,
          counters: positive,
          basis: 'cumulative_delta',
          state: 'final',
          key: JSON.stringify([sessionId, 'snapshot', model]),
          slot: `usage:${model}`,
          nativeId: 'snapshot',
        },
        position,
        time,
        sessionId,
      );
    }
  }

  private tell(
    found: {
      model: string | null;
      counters: Counters;
      basis: UsageObservation['basis'];
      state: UsageObservation['state'];
      key: string;
      slot: string;
      nativeId: string | null;
    },
    position: Position,
    time: Time,
    sessionId: string,
  ): void {
    const { counters } = found;
    this.out.usage(
      eventAt(sessionId, found.nativeId, found.slot, position, time),
      usageObservation({
        model: found.model === '(rewound)' ? null : found.model,
        input_tokens: counters.input,
        output_tokens: counters.output,
        cache_read_tokens: counters.cacheRead,
        cache_write_tokens: counters.cacheWrite,
        reasoning_tokens: counters.reasoning,
        input_includes_cache_read: true,
        input_includes_cache_write: true,
        output_includes_reasoning: true,
        basis: found.basis,
        state: found.state,
        key: found.key,
      }),
    );
  }
}

const UNKNOWN: Counters = { input: null, output: null, cacheRead: null, cacheWrite: null, reasoning: null };

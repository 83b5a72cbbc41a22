/** Where a product writes another one's format: what is told is the same, but for what a few members say otherwise. */
import type { Position } from '../../framing/frame.ts';
import type {
  DecodeContext,
  Decoder,
  Emitter,
  EventAt,
  FormatCode,
  HistoryFields,
  MessageFields,
  SessionFields,
  ToolCallFields,
  ToolResultFields,
  UsageObservation,
} from '../agent.ts';

/** What is told otherwise; null = not told. */
export interface Told {
  readonly message?: (fields: MessageFields, at: EventAt) => MessageFields | null;
  readonly usage?: (observation: UsageObservation, at: EventAt) => UsageObservation | null;
  readonly session?: (fields: SessionFields) => SessionFields | null;
  /** Types of records that the product adds and that say nothing. */
  readonly silent?: ReadonlySet<string>;
}

/** Hands on all that it is told, some of it changed. */
class ForwardingEmitter implements Emitter {
  readonly wants: Emitter['wants'];
  private readonly out: Emitter;
  private readonly told: Told;

  constructor(out: Emitter, told: Told) {
    this.out = out;
    this.told = told;
    this.wants = out.wants;
  }

  message(at: EventAt, fields: MessageFields): void {
    const changed = this.told.message === undefined ? fields : this.told.message(fields, at);
    if (changed !== null) this.out.message(at, changed);
  }

  toolCall(at: EventAt, fields: ToolCallFields): void {
    this.out.toolCall(at, fields);
  }

  toolResult(at: EventAt, fields: ToolResultFields): void {
    this.out.toolResult(at, fields);
  }

  usage(at: EventAt, observation: UsageObservation): void {
    const changed = this.told.usage === undefined ? observation : this.told.usage(observation, at);
    if (changed !== null) this.out.usage(at, changed);
  }

  session(fields: SessionFields): void {
    const changed = this.told.session === undefined ? fields : this.told.session(fields);
    if (changed !== null) this.out.session(changed);
  }

  history(position: Position, fields: HistoryFields): void {
    this.out.history(position, fields);
  }

  ignored(type: string): void {
    this.out.ignored(type);
  }

  unknown(type: string): void {
    if (this.told.silent?.has(type) === true) this.out.ignored(type);
    else this.out.unknown(type);
  }

  badRecord(position: Position, code: string, message: string): void {
    this.out.badRecord(position, code, message);
  }

  issue(severity: 'warning' | 'info', code: string, message: string, position?: Position): void {
    this.out.issue(severity, code, message, position);
  }
}

/** A format that is another one's, but for what `told` says of a source. */
export function relabelled<Outline>(
  code: FormatCode<Outline>,
  told: (context: DecodeContext<Outline>) => Told,
): FormatCode<Outline> {
  const wrap =
    (make: (context: DecodeContext<Outline>, out: Emitter) => Decoder) =>
    (context: DecodeContext<Outline>, out: Emitter): Decoder =>
      make(context, new ForwardingEmitter(out, told(context)));
  return {
    ...code,
    decoder: wrap(code.decoder),
    ...(code.totals === undefined ? {} : { totals: { ...code.totals, decoder: wrap(code.totals.decoder) } }),
  };
}

/** Counters of nothing but zeros: written where the backend told none, so that nothing is recorded. */
export const isZeroed = (observation: UsageObservation): boolean =>
  [
    observation.input_tokens,
    observation.output_tokens,
    observation.cache_read_tokens,
    observation.cache_write_tokens,
    observation.reasoning_tokens,
  ].every((counter) => counter === null || counter === 0);

/** Steps of the model: told when they end, and by newer builds again as what a goal has cost. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, UsageObservation } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { field, type Json, nameField, objectField, stringField } from '../dialects/json.ts';
import { usageObservation } from '../dialects/rows.ts';
import { type Held, inOrder, placeOf } from './held.ts';

type Counters = Pick<
  UsageObservation,
  'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens' | 'reasoning_tokens'
>;

interface Step {
  readonly held: Held;
  readonly run: string | null;
  readonly model: string | null;
  readonly counters: Counters;
}

/** Model of a step that says no more than this: the one that was configured for its run. */
const MAIN = 'same-as-main';

export class Steps {
  private readonly out: Emitter;
  private readonly completed: Step[] = [];
  private readonly attributed: Step[] = [];
  private readonly configured = new Map<string, string>();
  private models: ReadonlyMap<string | null, ReadonlySet<string>> | null = null;

  constructor(out: Emitter) {
    this.out = out;
  }

  configure(payload: Json): void {
    const record = objectField(payload, 'record') ?? {};
    const stream = objectField(record, 'run_stream');
    const run = stream === null ? null : nameField(stream, 'id');
    const model = nameField(record, 'model_id');
    if (run !== null && model !== null) this.configured.set(run, model);
  }

  complete(event: Json, run: string | null, held: Held): void {
    const usage = objectField(event, 'usage');
    const counters = usage === null ? null : this.read(usage, held.position);
    const model = nameField(event, 'model');
    this.completed.push({ held, run, model, counters: counters ?? NONE });
  }

  attribute(event: Json, run: string | null, held: Held): void {
    const record = objectField(event, 'record') ?? {};
    const quantity = objectField(record, 'quantity');
    if (quantity === null || field(quantity, 'reported') === false) return;
    if ((stringField(record, 'usage_family') ?? 'provider') !== 'provider') return;
    const owner = objectField(record, 'owner');
    const counters = this.read(quantity, held.position);
    const of = (owner === null ? null : nameField(owner, 'run_id')) ?? run;
    if (counters !== null) this.attributed.push({ held, run: of, model: null, counters });
  }

  /** The model of a run, where its steps agree; else null. Asked when all steps are known. */
  modelOf(run: string | null): string | null {
    this.models ??= this.modelsOfRuns();
    const models = this.models.get(run);
    const [only] = models ?? [];
    return models?.size === 1 ? only! : null;
  }

  private modelsOfRuns(): Map<string | null, Set<string>> {
    const models = new Map<string | null, Set<string>>();
    for (const step of this.completed) {
      const model = this.modelOfStep(step);
      if (model !== null) models.set(step.run, (models.get(step.run) ?? new Set()).add(model));
    }
    return models;
  }

  /** `provider`: how its counters overlap is known of Meta's own alone. */
  tell(sessionId: string, provider: string | null): void {
    const known = provider === null || provider === 'meta' ? true : null;
    for (const step of [...this.completed, ...this.alone()].sort((a, b) => inOrder(a.held, b.held))) {
      if (step.counters === NONE) continue;
      this.out.usage(
        placeOf(sessionId, step.held, 'usage'),
        usageObservation({
          ...step.counters,
          model: this.modelOfStep(step),
          provider,
          basis: 'native',
          key: step.held.envelope.id,
          input_includes_cache_read: known,
          input_includes_cache_write: false,
          output_includes_reasoning: known,
        }),
      );
    }
  }

  private modelOfStep({ model, run }: Step): string | null {
    return model !== null && model !== MAIN ? model : run === null ? null : (this.configured.get(run) ?? null);
  }

  /** Costs of steps whose end is not told: nothing ties the two together but their run and their counters. */
  private alone(): Step[] {
    const runs = new Set(this.attributed.map(({ run }) => run));
    return [...runs].flatMap((run) => {
      const ended = this.completed.filter((step) => step.run === run).map(({ counters }) => sameness(counters));
      const all = this.attributed.filter((step) => step.run === run);
      const spare = all.length - ended.length;
      if (spare <= 0) return [];
      const unmatched = all.filter(({ counters }) => {
        const at = ended.indexOf(sameness(counters));
        if (at !== -1) ended.splice(at, 1);
        return at === -1;
      });
      return unmatched.slice(0, spare);
    });
  }

  private read(usage: Json, position: Position): Counters | null {
    const reader = new CounterReader(this.out, position);
    const counters: Counters = {
      input_tokens: reader.read(usage, 'input_tokens'),
      output_tokens: reader.read(usage, 'output_tokens'),
      // Both names stand for the same.
      cache_read_tokens: reader.read(usage, 'cache_read_tokens') ?? reader.read(usage, 'cached_tokens'),
      cache_write_tokens: reader.read(usage, 'cache_write_tokens'),
      reasoning_tokens: reader.read(usage, 'reasoning_tokens'),
    };
    return Object.values(counters).every((value) => value === null) ? null : counters;
  }
}

const NONE: Counters = {
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
};

const sameness = ({ input_tokens, output_tokens, cache_read_tokens }: Counters): string =>
  JSON.stringify([input_tokens, output_tokens, cache_read_tokens ?? 0]);

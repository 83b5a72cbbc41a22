/** What the user said: as an intent, and again as the prompt of the run that it began. */
import { type Json, nameField, objectField, objectsField, stringField } from '../dialects/json.ts';
import type { Held } from './held.ts';

interface Intent {
  readonly held: Held;
  readonly text: string | null;
  readonly kinds: readonly string[];
}

export interface UserText extends Intent {
  readonly isIntent: boolean;
}

/** Outcome of an intent that came to nothing. */
const DROPPED = 'terminal_no_effect';

export class Intents {
  private readonly accepted = new Map<string, Intent>();
  private readonly outcomes: {
    readonly intent: string;
    readonly kind: string | null;
    readonly run: string | null;
    readonly held: Held;
  }[] = [];
  private readonly prompts: (Intent & { readonly run: string | null })[] = [];

  accept(payload: Json, held: Held): void {
    const id = nameField(payload, 'intent_id');
    // Other surfaces are not the talk.
    if (id === null || stringField(payload, 'surface') !== 'main') return;
    const blocks = objectsField(payload, 'refill_blocks');
    const kinds = [...new Set(blocks.map((block) => stringField(block, 'kind') ?? 'unknown'))];
    const texts = blocks.filter((block) => stringField(block, 'kind') === 'text').map((b) => stringField(b, 'text'));
    this.accepted.set(id, { held, text: texts.filter((text) => text !== null && text !== '').join('\n'), kinds });
  }

  materialize(payload: Json, held: Held): void {
    const intent = nameField(payload, 'intent_id');
    const outcome = objectField(payload, 'outcome');
    if (intent === null || outcome === null) return;
    this.outcomes.push({ intent, kind: stringField(outcome, 'kind'), run: nameField(outcome, 'run_id'), held });
  }

  start(run: string | null, prompt: string | null, held: Held): void {
    this.prompts.push({ held, text: prompt, kinds: ['text'], run });
  }

  /** Each text once. `order` tells which of two events came first. */
  texts(order: (a: Held, b: Held) => number): UserText[] {
    const last = new Map<string, string | null>();
    for (const { intent, kind } of [...this.outcomes].sort((a, b) => order(a.held, b.held))) last.set(intent, kind);
    const told = [...this.accepted].filter(([id]) => last.get(id) !== DROPPED);
    const ids = new Set(told.map(([id]) => id));
    const runs = new Set([
      ...ids,
      ...this.outcomes.flatMap(({ intent, run }) => (run !== null && ids.has(intent) ? [run] : [])),
    ]);
    return [
      ...told.map(([, intent]) => ({ ...intent, isIntent: true })),
      ...this.prompts
        .filter(({ run }) => run === null || !runs.has(run))
        .map((prompt) => ({ ...prompt, isIntent: false })),
    ];
  }
}

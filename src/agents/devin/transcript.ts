/**
 * An export of a session in the Agent Trajectory Interchange Format (ATIF), written when the session ends: told only
 * where the database does not hold the session.
 */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { blockText } from '../dialects/anthropic.ts';
import { isoTime } from '../dialects/clock.ts';
import { CounterReader } from '../dialects/counters.ts';
import { isZeroed } from '../dialects/emitters.ts';
import {
  asObject,
  field,
  type Json,
  jsonText,
  listField,
  nameField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, textHint, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';

const ROLES: ReadonlyMap<string, 'user' | 'assistant' | 'system'> = new Map([
  ['user', 'user'],
  ['agent', 'assistant'],
  ['system', 'system'],
]);

/** Prompts contain what came from the cache. */
const OVERLAP = {
  input_includes_cache_read: true,
  input_includes_cache_write: false,
  output_includes_reasoning: null,
} as const;

export class TranscriptDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private hasUsage = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const document = asObject(frame.json());
    const version = document === null ? null : stringField(document, 'schema_version');
    if (document === null || !version?.startsWith('ATIF') || !Array.isArray(field(document, 'steps')))
      throw sourceError('foreign_schema', `is no trajectory in ATIF (${version ?? 'no version'})`);
    const { source } = this.context;
    listField(document, 'steps').forEach((value, index) => {
      const position = { ...frame.position(), ordinal: index, locator: `/steps/${index}` };
      const step = asObject(value);
      if (step === null) this.out.badRecord(position, 'wrong_type', 'the step is no object');
      else this.step(step, position);
    });
    this.total(objectField(document, 'final_metrics'), frame.position());
    this.out.session(
      sessionFields({
        session_id: source.name,
        title: textHint(source, 'title'),
        cwd: textHint(source, 'cwd'),
        resume_command: resumeCommand('devin --resume', source.name),
      }),
    );
  }

  finish(): void {}

  private step(step: Json, position: Position): void {
    const source = stringField(step, 'source') ?? '';
    const role = ROLES.get(source);
    if (role === undefined) {
      this.out.unknown(`step/${source === '' ? '(no source)' : source}`);
      return;
    }
    const time = isoTime(field(step, 'timestamp'));
    const id = `step ${String(field(step, 'step_id') ?? position.ordinal)}`;
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    const text = blockText(field(step, 'message'));
    const thinking = nameField(step, 'reasoning_content');
    const model = modelOf(step);
    if (text !== null || thinking !== null) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          record_id: id,
          kind: 'step',
          model: role === 'assistant' ? model : null,
          text,
          thinking,
          is_meta: role === 'system',
          content_kinds: [...(text === null ? [] : ['text']), ...(thinking === null ? [] : ['thinking'])],
        }),
      );
    }
    const calls = objectsField(step, 'tool_calls').map((call) => ({
      id: nameField(call, 'tool_call_id'),
      name: nameField(call, 'function_name'),
      input: field(call, 'arguments'),
      arguments: jsonText(field(call, 'arguments')),
    }));
    tellCalls(calls, { at }, this.out);
    const results = objectsField(objectField(step, 'observation') ?? {}, 'results').map((result) => ({
      callId: nameField(result, 'source_call_id'),
      isError: null,
      output: blockText(field(result, 'content')),
    }));
    tellResults(results, { at }, this.out);
    const metrics = objectField(step, 'metrics');
    if (metrics === null) return;
    const reader = new CounterReader(this.out, position);
    const observation = usageObservation({
      ...OVERLAP,
      model,
      input_tokens: reader.read(metrics, 'prompt_tokens'),
      output_tokens: reader.read(metrics, 'completion_tokens'),
      cache_read_tokens: reader.read(metrics, 'cached_tokens'),
      basis: 'native',
      key: null,
    });
    if (isZeroed(observation)) return;
    this.hasUsage = true;
    this.out.usage(at('usage'), observation);
  }

  /** Totals of the session, where no step has figures of its own. */
  private total(metrics: Json | null, position: Position): void {
    if (metrics === null || this.hasUsage) return;
    const reader = new CounterReader(this.out, position);
    const observation = usageObservation({
      ...OVERLAP,
      input_tokens: reader.read(metrics, 'total_prompt_tokens'),
      output_tokens: reader.read(metrics, 'total_completion_tokens'),
      cache_read_tokens: reader.read(metrics, 'total_cached_tokens'),
      basis: 'session_total',
      state: 'unknown',
      key: null,
    });
    if (isZeroed(observation)) return;
    this.out.usage(eventAt(this.context.source.name, 'session', 'usage', position), observation);
  }
}

/** `Adaptive` is a way of choosing a model, and no model. */
function modelOf(step: Json): string | null {
  const model = nameField(step, 'model_name');
  return model?.toLowerCase() === 'adaptive' ? null : model;
}

/** Events of a session to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  boolField,
  type Json,
  listField,
  nameField,
  numberField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { eventAt, sessionFields, spokenFields, textHint, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';

/** Steps that call a tool, and the names that are told for them: the real ones are not stored. */
const TOOLS: Readonly<Record<string, string>> = {
  FileChangesBlockUpdatedEvent: 'file_changes',
  TerminalBlockUpdatedEvent: 'terminal',
  ToolBlockUpdatedEvent: 'tool',
  ViewFilesBlockUpdatedEvent: 'view_files',
};
const RESULT = 'ResultBlockUpdatedEvent';
const THOUGHT = 'AgentThoughtBlockUpdatedEvent';
/** Where a tool's answer stands, the best first. */
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  TerminalBlockUpdatedEvent: ['presentableOutput', 'output', 'details'],
  ToolBlockUpdatedEvent: ['details', 'output'],
};
const SILENT = new Set([
  'AgentCurrentStatusUpdatedEvent',
  'AgentPatchCreatedEvent',
  'AgentPlanUpdatedEvent',
  'AgentStateUpdatedEvent',
  'AgentTaskNameUpdatedEvent',
]);
const VERSION = /[/\\]junie[/\\]versions[/\\]([^/\\:;]+)/;

/** A step is told again as it goes on: the first event gives its place, the last one its content. */
interface Step {
  readonly kind: string;
  readonly id: string | null;
  readonly position: Position;
  event: Json;
}

export class EventDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly open = new Map<string, Step>();
  private version: string | null = null;
  private isEmpty = true;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const kind = stringField(record, 'kind') ?? '';
    switch (kind) {
      case 'UserPromptEvent':
        this.said(this.at('message', frame.position()), 'user', stringField(record, 'prompt'));
        break;
      case 'SessionA2uxEvent': {
        const event = objectField(objectField(record, 'event') ?? {}, 'agentEvent');
        if (event === null) this.out.ignored(kind);
        else this.event(event, frame.position());
        break;
      }
      case 'SendToAgentEvent':
      case 'SystemMessageEvent':
      case 'TaskState':
        this.out.ignored(kind);
        break;
      default:
        this.out.unknown(kind === '' ? '(no kind)' : kind);
        return;
    }
    this.isEmpty = false;
  }

  finish(): void {
    for (const step of this.open.values()) this.step(step);
    if (this.isEmpty) return;
    const { source } = this.context;
    this.out.session(
      sessionFields({
        session_id: source.name,
        title: textHint(source, 'title'),
        cwd: textHint(source, 'cwd'),
        agent_version: this.version,
      }),
    );
  }

  private at(slot: string, position: Position): EventAt {
    return eventAt(this.context.source.name, null, slot, position);
  }

  private event(event: Json, position: Position): void {
    const kind = stringField(event, 'kind') ?? '';
    if (Object.hasOwn(TOOLS, kind) || kind === RESULT || kind === THOUGHT) {
      const id = nameField(event, 'stepId');
      const key = JSON.stringify([kind, id ?? position.ordinal]);
      const step = this.open.get(key);
      if (step === undefined) this.open.set(key, { kind, id, position, event });
      else step.event = event;
    } else if (kind === 'AgentFailureEvent')
      this.said(this.at('message', position), 'assistant', stringField(event, 'message'), { isMeta: true });
    else if (kind === 'LlmResponseMetadataEvent') this.usage(event, position);
    else if (kind === 'EnvironmentVariablesUpdatedEvent') this.variables(event);
    else if (SILENT.has(kind)) this.out.ignored(`agentEvent/${kind}`);
    else this.out.unknown(`agentEvent/${kind === '' ? '(no kind)' : kind}`);
  }

  private step({ kind, id, position, event }: Step): void {
    if (kind === THOUGHT)
      this.said(this.at('message', position), 'assistant', null, { thinking: textOf(event, 'text') });
    else if (kind === RESULT) {
      const result = textOf(event, 'result');
      if (boolField(event, 'cancelled') === false && result?.trim() !== 'Empty')
        this.said(this.at('message', position), 'assistant', result);
    } else {
      const at = (slot: string): EventAt => this.at(slot, position);
      const given = { ...event, kind: undefined, stepId: undefined, status: undefined };
      for (const name of OUTPUTS[kind] ?? []) Object.assign(given, { [name]: undefined });
      tellCalls([{ id, name: TOOLS[kind]!, input: given, arguments: JSON.stringify(given) }], { at }, this.out);
      const output = (OUTPUTS[kind] ?? []).map((name) => textOf(event, name)).find((text) => text !== null);
      if (output !== undefined) tellResults([{ callId: id, isError: null, output }], { at }, this.out);
    }
  }

  private said(
    at: EventAt,
    role: 'assistant' | 'user',
    text: string | null,
    { thinking = null as string | null, isMeta = false } = {},
  ): void {
    const fields = spokenFields({ role, kind: isMeta ? 'failure' : 'message', text, thinking, is_meta: isMeta });
    if (fields !== null) this.out.message(at, fields);
  }

  /** One event a response, an entry a model. That input holds no cache follows from the names alone. */
  private usage(event: Json, position: Position): void {
    const reader = new CounterReader(this.out, position);
    if (listField(event, 'modelUsage').length !== objectsField(event, 'modelUsage').length)
      this.out.badRecord(position, 'wrong_type', 'an entry of modelUsage is no object');
    objectsField(event, 'modelUsage').forEach((usage, index) => {
      this.out.usage(
        this.at(`usage:${index}`, position),
        usageObservation({
          model: nameField(usage, 'model'),
          input_tokens: reader.read(usage, 'inputTokens'),
          output_tokens: reader.read(usage, 'outputTokens'),
          cache_read_tokens: reader.read(usage, 'cacheInputTokens'),
          cache_write_tokens: reader.read(usage, 'cacheCreateTokens'),
          input_includes_cache_read: false,
          input_includes_cache_write: false,
          output_includes_reasoning: null,
          reported_cost_usd: numberField(usage, 'cost'),
          basis: 'native',
          key: null,
        }),
      );
    });
  }

  private variables(event: Json): void {
    for (const variable of objectsField(event, 'env'))
      this.version ??= VERSION.exec(stringField(variable, 'value') ?? '')?.[1] ?? null;
    this.out.ignored('agentEvent/EnvironmentVariablesUpdatedEvent');
  }
}

/** A text that is not blank; else null. */
function textOf(event: Json, name: string): string | null {
  const text = stringField(event, name);
  return text?.trim() ? text : null;
}

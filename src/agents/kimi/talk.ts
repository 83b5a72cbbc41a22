/** One conversation in a log of Kimi CLI: that of the session, or of a subagent whose events it wraps. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, EventAt } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import {
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  type Time,
  toolCallFields,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { partKind, readParts, said } from './parts.ts';
import { readCounters } from './usage.ts';

/** Place of an event. */
export interface Place {
  readonly position: Position;
  readonly time: Time;
  readonly isCopy: boolean;
}

/** What of a step was said so far. */
interface Step extends Place {
  readonly texts: (string | null)[];
  readonly thoughts: (string | null)[];
  readonly kinds: Set<string>;
}

interface Call extends Place {
  readonly id: string | null;
  readonly name: string | null;
  arguments: string | null;
}

/** Events that end a step. */
const ENDS = new Set(['StepBegin', 'StepInterrupted', 'TurnEnd']);
/** Events that carry no rows. */
const SILENT = new Set([
  'ApprovalRequest',
  'ApprovalRequestResolved',
  'ApprovalResponse',
  'BtwBegin',
  'BtwEnd',
  'CompactionBegin',
  'CompactionEnd',
  'HookRequest',
  'HookResolved',
  'HookTriggered',
  'MCPLoadingBegin',
  'MCPLoadingEnd',
  'Notification',
  'PlanDisplay',
  'QuestionRequest',
  'QuestionResponse',
  'StepBegin',
  'StepInterrupted',
  'StepRetry',
  'ToolCallRequest',
  'TurnEnd',
]);

export class Talk {
  private readonly out: Emitter;
  private readonly sessionId: string;
  private readonly model: string | null;
  private step: Step | null = null;
  /** Arguments of the latest call may come in pieces. */
  private call: Call | null = null;

  constructor(sessionId: string, model: string | null, out: Emitter) {
    this.sessionId = sessionId;
    this.model = model;
    this.out = out;
  }

  /** `isLastUsage`: no later event tells the usage of the same reply. */
  take(type: string, payload: Json, place: Place, isLastUsage: boolean): void {
    switch (type) {
      case 'TurnBegin':
      case 'SteerInput':
        this.end();
        this.user(type, payload, place);
        break;
      case 'ContentPart':
        this.part(payload, place);
        break;
      case 'ToolCall':
        this.endCall();
        this.begin(payload, place);
        break;
      case 'ToolCallPart':
        if (this.call !== null)
          this.call.arguments = `${this.call.arguments ?? ''}${stringField(payload, 'arguments_part') ?? ''}`;
        break;
      case 'ToolResult':
        this.result(payload, place);
        break;
      case 'StatusUpdate':
        this.usage(payload, place, isLastUsage);
        break;
      default:
        if (ENDS.has(type)) this.end();
        // The same step is tried again: what it had said is shown no more (writer).
        if (type === 'StepRetry') this.end({ isActive: false });
        if (SILENT.has(type)) this.out.ignored(type);
        else this.out.unknown(type);
    }
  }

  /** Tells what is open. */
  end({ isActive = true } = {}): void {
    const { step } = this;
    this.step = null;
    if (step !== null) {
      const text = said(joinTexts(step.texts));
      const thinking = said(joinTexts(step.thoughts));
      if (text !== null || thinking !== null || [...step.kinds].some((kind) => kind !== 'text' && kind !== 'thinking'))
        this.out.message(
          this.at('message', step),
          messageFields({
            role: 'assistant',
            is_copy: step.isCopy,
            kind: 'step',
            model: this.model,
            text,
            thinking,
            is_active: isActive,
            content_kinds: [...step.kinds],
          }),
        );
    }
    this.endCall();
  }

  private at(slot: string, { position, time }: Place): EventAt {
    return eventAt(this.sessionId, null, slot, position, time);
  }

  private user(type: string, payload: Json, place: Place): void {
    reportContent(field(payload, 'user_input'), place.position, this.out);
    const { text, kinds } = readParts(field(payload, 'user_input'), (kind) => this.out.unknown(kind));
    if (text === null && !kinds.some((kind) => kind !== 'text')) return;
    this.out.message(
      this.at('message', place),
      messageFields({ role: 'user', is_copy: place.isCopy, kind: type, text, content_kinds: [...kinds] }),
    );
  }

  private part(payload: Json, place: Place): void {
    const type = stringField(payload, 'type');
    const kind = partKind(type);
    if (kind === null) {
      this.out.unknown(`ContentPart/${type ?? '(no type)'}`);
      return;
    }
    this.step ??= { ...place, texts: [], thoughts: [], kinds: new Set() };
    this.step.kinds.add(kind);
    if (kind === 'text') this.step.texts.push(stringField(payload, 'text'));
    else if (kind === 'thinking') this.step.thoughts.push(stringField(payload, 'think'));
  }

  private begin(payload: Json, place: Place): void {
    const called = objectField(payload, 'function') ?? {};
    const given = jsonText(field(called, 'arguments'));
    this.call = { ...place, id: nameField(payload, 'id'), name: nameField(called, 'name'), arguments: given };
  }

  private endCall(): void {
    const { call } = this;
    this.call = null;
    if (call === null) return;
    this.out.toolCall(
      this.at('call', call),
      toolCallFields({
        is_copy: call.isCopy,
        call_id: call.id,
        ...identifyTool(call.name, call.arguments === null ? null : parseOrUndefined(call.arguments)),
        arguments: call.arguments,
      }),
    );
  }

  private result(payload: Json, place: Place): void {
    const id = nameField(payload, 'tool_call_id');
    // A call that is still being written is another one than that which is answered.
    if (this.call !== null && this.call.id === id) this.endCall();
    const value = objectField(payload, 'return_value') ?? {};
    const output = field(value, 'output');
    const { text } = readParts(output, (kind) => this.out.unknown(kind));
    this.out.toolResult(
      this.at('result', place),
      toolResultFields({
        is_copy: place.isCopy,
        call_id: id,
        is_error: boolField(value, 'is_error'),
        output: typeof output === 'string' ? output || null : text,
        output_json: output !== null && typeof output === 'object' ? JSON.stringify(output) : null,
      }),
    );
  }

  private usage(payload: Json, place: Place, isLast: boolean): void {
    const usage = objectField(payload, 'token_usage');
    // Updates also tell of modes and servers.
    if (usage === null || !isLast) {
      this.out.ignored('StatusUpdate');
      return;
    }
    const counters = readCounters(usage, 'cli', this.out, place.position);
    if (counters === null) return;
    const id = nameField(payload, 'message_id');
    const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = counters;
    this.out.usage(
      eventAt(this.sessionId, id, 'usage', place.position, place.time),
      usageObservation({
        ...counters,
        message_id: id,
        model: this.model,
        basis: 'native',
        key:
          id ??
          JSON.stringify([
            place.time.timestampText,
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
          ]),
        native: !place.isCopy,
      }),
    );
  }
}

/** Events of a conversation to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { blockText } from '../dialects/anthropic.ts';
import { localTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  asObject,
  boolField,
  dig,
  field,
  type Json,
  joinTexts,
  nameField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { type ChatCall, readToolCalls } from '../dialects/openai.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import type { Outline } from './outline.ts';
import { indexOf } from './paths.ts';
import { readCounters } from './usage.ts';

/** Events that are no part of what was said. */
const SILENT = new Set([
  'Condensation',
  'CondensationRequest',
  'CondensationSummaryEvent',
  'ConversationErrorEvent',
  'ConversationStateUpdateEvent',
  'HookExecutionEvent',
  'InterruptEvent',
  'LLMCompletionLogEvent',
  'PauseEvent',
  'SystemPromptEvent',
  'TokenEvent',
]);

/** `0a0b…` with dashes, as the program prints it; anything else as it is. */
const dashed = (id: string): string =>
  id.replace(/^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/, '$1-$2-$3-$4-$5');

interface Event {
  readonly record: Json;
  readonly at: (slot: string) => EventAt;
  readonly isCopy: boolean;
  readonly isActive: boolean;
}

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext<Outline>;
  private state: Json | null = null;

  constructor(context: DecodeContext<Outline>, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    if (frame.locator === 'base_state.json') {
      this.state = record;
      this.usage(record, frame.position());
      return;
    }
    const id = nameField(record, 'id');
    const position = frame.position();
    const time = localTime(field(record, 'timestamp'));
    const { copiedThrough } = this.context.source.hints;
    const live = this.context.outline?.live ?? null;
    this.event({
      record,
      at: (slot) => eventAt(this.sessionId, id, slot, position, time),
      isCopy: typeof copiedThrough === 'number' && indexOf(frame.locator ?? '') <= copiedThrough,
      isActive: live === null || (id !== null && live.has(id)),
    });
  }

  finish(): void {
    const { meta } = this.context.sidecars;
    const about = meta === undefined ? null : asObject(parseOrUndefined(meta.toString('utf8')));
    if (meta !== undefined && about === null)
      this.out.issue(
        'warning',
        'malformed_json',
        'meta.json is not one JSON object; parent and title are not told by it',
      );
    const fork = about === null ? null : nameField(about, 'forked_from_conversation_id');
    const parent = fork ?? (about === null ? null : nameField(about, 'parent_conversation_id'));
    const title = [dig(this.state, 'tags', 'title'), about === null ? null : field(about, 'title')];
    const folder = dig(this.state, 'workspace', 'working_dir');
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent === null ? null : dashed(parent),
        kind: fork !== null ? 'fork' : parent !== null ? 'subagent' : 'main',
        title: title.find((text): text is string => typeof text === 'string' && text.trim() !== '') ?? null,
        cwd: typeof folder === 'string' && folder !== '' ? folder : null,
        resume_command: resumeCommand('openhands --resume', this.sessionId),
      }),
    );
  }

  private get sessionId(): string {
    return dashed((this.state === null ? null : nameField(this.state, 'id')) ?? this.context.source.name);
  }

  private get model(): string | null {
    const model = dig(this.state, 'agent', 'llm', 'model');
    return typeof model === 'string' && model !== '' ? model : null;
  }

  private event(event: Event): void {
    const { record } = event;
    const kind = stringField(record, 'kind') ?? '';
    switch (kind) {
      case 'MessageEvent':
        this.message(event, objectField(record, 'llm_message') ?? {});
        break;
      case 'ActionEvent':
        this.action(event);
        break;
      case 'ObservationEvent': {
        const observation = objectField(record, 'observation') ?? {};
        const output = blockText(field(observation, 'content')) ?? stringField(observation, 'output');
        this.result(event, boolField(observation, 'is_error'), output);
        break;
      }
      case 'AgentErrorEvent':
        this.result(event, true, stringField(record, 'error'));
        break;
      case 'UserRejectObservation':
        this.result(event, null, stringField(record, 'rejection_reason'));
        break;
      default:
        if (SILENT.has(kind)) this.out.ignored(kind);
        else this.out.unknown(kind === '' ? '(no kind)' : kind);
    }
  }

  private message(event: Event, message: Json): void {
    const role = stringField(message, 'role') ?? '';
    if (role !== 'user' && role !== 'assistant') {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    reportContent(field(message, 'content'), event.at('message').position, this.out);
    const source = stringField(event.record, 'source');
    const hasImage = objectsField(message, 'content').some((part) => stringField(part, 'type') === 'image');
    this.said(event, role, blockText(field(message, 'content')), thinkingOf(message), {
      isMeta: role === 'user' && source !== 'user' && source !== 'agent',
      hasImage,
    });
    this.calls(event, readToolCalls(message));
  }

  /** Calls of one reply are events of their own; what was thought stands with the first. */
  private action(event: Event): void {
    const { record } = event;
    const call = objectField(record, 'tool_call');
    this.said(event, 'assistant', blockText(field(record, 'thought')), thinkingOf(record));
    const calls = call === null ? [] : readToolCalls({ list: [call] }, 'list');
    const id = nameField(record, 'tool_call_id');
    const name = nameField(record, 'tool_name');
    this.calls(
      event,
      calls.length > 0
        ? calls.map((made) => ({ ...made, id: id ?? made.id, name: name ?? made.name }))
        : [{ id, name, input: null, arguments: null }],
    );
  }

  private said(
    { record, at, isCopy, isActive }: Event,
    role: 'user' | 'assistant',
    text: string | null,
    thinking: string | null,
    { isMeta = false, hasImage = false } = {},
  ): void {
    if (text === null && thinking === null && !hasImage) return;
    this.out.message(
      at('message'),
      messageFields({
        role,
        is_copy: isCopy,
        is_active: isActive,
        message_id: nameField(record, 'llm_response_id'),
        record_id: nameField(record, 'id'),
        parent_record_id: nameField(record, 'parent_id'),
        kind: stringField(record, 'kind'),
        model: role === 'assistant' ? this.model : null,
        text,
        thinking,
        is_meta: isMeta,
        content_kinds: [
          ...(text === null ? [] : ['text']),
          ...(thinking === null ? [] : ['thinking']),
          ...(hasImage ? ['image'] : []),
        ],
      }),
    );
  }

  private calls({ record, at, isCopy }: Event, calls: readonly ChatCall[]): void {
    tellCalls(calls, { at, isCopy, messageId: nameField(record, 'llm_response_id') }, this.out);
  }

  private result({ record, at, isCopy }: Event, isError: boolean | null, output: string | null): void {
    tellResults([{ callId: nameField(record, 'tool_call_id'), isError, output }], { at, isCopy }, this.out);
  }

  /** Each role of a model (agent, condenser …) has its own list of requests; the sum beside it serves where it is empty. */
  private usage(state: Json, position: Position): void {
    const stats = objectField(state, 'stats');
    const roles =
      stats === null ? null : (objectField(stats, 'usage_to_metrics') ?? objectField(stats, 'service_to_metrics'));
    for (const role of Object.keys(roles ?? {})) {
      const metrics = objectField(roles!, role);
      if (metrics === null) {
        this.out.badRecord(position, 'wrong_type', 'the metrics of a model are no object');
        continue;
      }
      const model = nameField(metrics, 'model_name');
      const requests = objectsField(metrics, 'token_usages');
      requests.forEach((usage, index) => {
        const id = nameField(usage, 'response_id');
        this.out.usage(
          eventAt(this.sessionId, id, `usage:${role}:${id ?? index}`, position),
          usageObservation({
            ...readCounters(usage, model, this.out, position),
            message_id: id,
            basis: 'native',
            // A fork may keep what its origin was billed.
            key: id,
          }),
        );
      });
      const sum = objectField(metrics, 'accumulated_token_usage');
      if (requests.length > 0 || sum === null) continue;
      this.out.usage(
        eventAt(this.sessionId, role, 'usage', position),
        usageObservation({
          ...readCounters(sum, model, this.out, position),
          basis: 'session_total',
          state: 'unknown',
          key: null,
        }),
      );
    }
  }
}

const thinkingOf = (holder: Json): string | null =>
  joinTexts(objectsField(holder, 'thinking_blocks').map((block) => stringField(block, 'thinking'))) ??
  (stringField(holder, 'reasoning_content') || null);

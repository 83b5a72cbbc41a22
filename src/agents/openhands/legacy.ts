/** Events of the former application. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { localTime } from '../dialects/clock.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { boolField, field, type Json, jsonText, nameField, objectField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { readCounters } from './usage.ts';

/** Actions of the agent that call a tool. */
const CALLS = new Set([
  'browse',
  'browse_interactive',
  'call_tool_mcp',
  'delegate',
  'edit',
  'finish',
  'read',
  'run',
  'run_ipython',
  'task_tracking',
  'think',
  'write',
]);

export class LegacyDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private about: Json | null = null;
  /** The last sum of what the session used so far. */
  private sum: { usage: Json; position: Position } | null = null;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    if (frame.locator === 'metadata.json') this.about = record;
    else this.event(record, frame.position());
  }

  finish(): void {
    const { about, sum } = this;
    const text = (key: string): string | null => (about === null ? null : nameField(about, key));
    if (sum !== null) {
      this.out.usage(
        eventAt(this.context.source.name, 'session', 'usage', sum.position),
        usageObservation({
          ...readCounters(sum.usage, this.model, this.out, sum.position),
          basis: 'session_total',
          state: 'unknown',
          key: this.context.source.name,
        }),
      );
    }
    this.out.session(
      sessionFields({
        session_id: this.context.source.name,
        title: text('title'),
        git_branch: text('selected_branch'),
      }),
    );
  }

  private get model(): string | null {
    return this.about === null ? null : nameField(this.about, 'llm_model');
  }

  private event(record: Json, position: Position): void {
    const id = field(record, 'id');
    const at = (slot: string): EventAt =>
      eventAt(
        this.context.source.name,
        typeof id === 'number' || typeof id === 'string' ? String(id) : null,
        slot,
        position,
        localTime(field(record, 'timestamp')),
      );
    const action = stringField(record, 'action');
    const observation = stringField(record, 'observation');
    if (action !== null) this.action(action, record, at);
    else if (observation !== null) this.observation(record, observation, at);
    else this.out.unknown('(no action)');
    const metrics = objectField(record, 'llm_metrics');
    const usage = metrics === null ? null : objectField(metrics, 'accumulated_token_usage');
    if (usage !== null) this.sum = { usage, position };
  }

  private action(action: string, record: Json, at: (slot: string) => EventAt): void {
    const args = objectField(record, 'args') ?? {};
    const isUser = stringField(record, 'source') === 'user';
    if (action === 'message') this.said(record, isUser ? 'user' : 'assistant', stringField(args, 'content'), at);
    else if (!CALLS.has(action) || isUser) this.out.ignored(`action/${action}`);
    else {
      this.said(record, 'assistant', stringField(args, 'thought'), at);
      const call = objectField(record, 'tool_call_metadata') ?? {};
      tellCalls(
        [
          {
            id: nameField(call, 'tool_call_id'),
            name: nameField(call, 'function_name') ?? action,
            input: args,
            arguments: jsonText(args),
          },
        ],
        { at },
        this.out,
      );
    }
  }

  private observation(record: Json, observation: string, at: (slot: string) => EventAt): void {
    const call = objectField(record, 'tool_call_metadata');
    if (call === null) {
      this.out.ignored(`observation/${observation}`);
      return;
    }
    const success = boolField(record, 'success');
    const isError = observation === 'error' ? true : success === null ? null : !success;
    const output = stringField(record, 'content') || null;
    tellResults([{ callId: nameField(call, 'tool_call_id'), isError, output }], { at }, this.out);
  }

  private said(record: Json, role: 'user' | 'assistant', text: string | null, at: (slot: string) => EventAt): void {
    if (text === null || text === '') return;
    this.out.message(
      at('message'),
      messageFields({
        role,
        record_id: String(field(record, 'id') ?? '') || null,
        kind: stringField(record, 'action'),
        model: role === 'assistant' ? this.model : null,
        text,
        content_kinds: ['text'],
      }),
    );
  }
}

/** Messages of a session of the later form. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { readBlocks } from '../dialects/anthropic.ts';
import { epochTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { CounterReader } from '../dialects/counters.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { asObject, field, type Json, nameField, numberField, objectField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, textHint, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { messageKey } from './kinship.ts';

/** Kinds and roles of messages that the program wrote for a person. */
const NOTICES = new Set([
  'auto_compaction',
  'manual_compaction',
  'compaction',
  'compaction_summary',
  'compaction_budget_emergency',
  'completion_reminder',
  'loop_detection_notice',
  'mistake_stop_notice',
  'recovery_notice',
]);
const DISPLAYED = new Set(['system', 'status', 'error']);
const INJECTED = [
  '[TASK RESUMPTION]',
  'The user approved switching to act mode.',
  'Warning: this is a legacy conversation',
];

/** What was typed, without the tags around it. */
export function typedText(text: string): string {
  const plain = text.replace(/<mode_notice>[\s\S]*?<\/mode_notice>/g, '').trim();
  const command = /^<user_command slash="([^"]*)">([\s\S]*)<\/user_command>$/.exec(plain);
  if (command !== null) return `/${command[1]} ${command[2]!.trim()}`.trim();
  return /^<user_input(?: mode="[^"]*")?>\n?([\s\S]*?)\n?<\/user_input>$/.exec(plain)?.[1] ?? plain;
}

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private head: Json | null = null;
  private hasMessages = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  private hint(name: string): string | null {
    return textHint(this.context.source, name);
  }

  /** Children know their id themselves; their files are named by the agent alone. */
  private get sessionId(): string {
    const own = this.head === null ? null : nameField(this.head, 'sessionId');
    return this.context.source.hints['isRoot'] === true ? this.context.source.name : (own ?? this.context.source.name);
  }

  frame(frame: Frame): void {
    if (frame.locator === '') {
      this.head = asObject(frame.json());
      if (this.head === null) throw sourceError('foreign_schema', 'is no session: its top is neither object nor list');
      return;
    }
    const message = objectOrReport(frame, this.out);
    if (message === null) return;
    this.hasMessages = true;
    this.message(message, frame.position());
  }

  finish(): void {
    if (this.head === null && !this.hasMessages) return;
    this.session();
  }

  private message(message: Json, position: Position): void {
    const role = stringField(message, 'role');
    if (role !== 'user' && role !== 'assistant') {
      this.out.unknown(`message/${role ?? '(no role)'}`);
      return;
    }
    const id = nameField(message, 'id');
    const isCopy = id !== null && this.context.copies.has(messageKey(id));
    const time = epochTime(field(message, 'ts'), 'ms');
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, id, slot, position, time);
    reportContent(field(message, 'content'), position, this.out);
    const blocks = readBlocks(field(message, 'content'), (type) => this.out.unknown(type));
    const info = objectField(message, 'modelInfo');
    const model = role === 'assistant' ? ((info === null ? null : nameField(info, 'id')) ?? this.hint('model')) : null;
    const kinds = blocks.kinds.filter((kind) => kind !== 'tool_result');
    const text = role === 'user' && blocks.text !== null ? typedText(blocks.text) : blocks.text;
    if (text !== null || blocks.thinking !== null || kinds.some((kind) => kind !== 'tool_use' && kind !== 'text')) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          is_copy: isCopy,
          record_id: id,
          model,
          text: text === '' ? null : text,
          thinking: blocks.thinking,
          is_meta: role === 'user' && isInjected(message, text ?? ''),
          content_kinds: kinds,
        }),
      );
    }
    const tools = { at, isCopy, messageId: id };
    tellCalls(blocks.calls, tools, this.out);
    tellResults(blocks.results, tools, this.out);
    const metrics = objectField(message, 'metrics');
    // A copy's request was made, and is counted, where it is native.
    if (role === 'assistant' && metrics !== null && !isCopy) this.usage(metrics, info, model, position, at('usage'));
  }

  private usage(
    metrics: Json,
    info: Json | null,
    model: string | null,
    position: Position,
    at: ReturnType<typeof eventAt>,
  ): void {
    const reader = new CounterReader(this.out, position);
    const input = reader.read(metrics, 'inputTokens');
    const output = reader.read(metrics, 'outputTokens');
    const read = reader.read(metrics, 'cacheReadTokens');
    const written = reader.read(metrics, 'cacheWriteTokens');
    if (input === null && output === null && read === null && written === null) return;
    this.out.usage(
      at,
      usageObservation({
        model,
        provider: info === null ? null : nameField(info, 'provider'),
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: read,
        cache_write_tokens: written,
        input_includes_cache_read: true,
        input_includes_cache_write: true,
        output_includes_reasoning: true,
        reported_cost_usd: numberField(metrics, 'cost'),
        basis: 'native',
        key: null,
      }),
    );
  }

  private session(): void {
    const { head } = this;
    const origin = head === null ? null : objectField(head, 'origin');
    const isRoot = this.context.source.hints['isRoot'] === true;
    const forkOf = this.hint('forkOf');
    const parent = isRoot
      ? forkOf
      : ((origin === null ? null : nameField(origin, 'parentThreadId')) ?? this.hint('root'));
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: !isRoot ? 'subagent' : forkOf === null ? 'main' : 'fork',
        origin: this.hint('origin') ?? (origin === null ? null : nameField(origin, 'source')),
        title: this.hint('title'),
        cwd: this.hint('cwd'),
        git_branch: this.hint('branch'),
        agent_version: this.hint('version') ?? (origin === null ? null : nameField(origin, 'version')),
        resume_command: isRoot ? resumeCommand('cline --id', this.sessionId) : null,
      }),
    );
  }
}

function isInjected(message: Json, text: string): boolean {
  const metadata = objectField(message, 'metadata');
  const kind = metadata === null ? null : stringField(metadata, 'kind');
  const display = metadata === null ? null : stringField(metadata, 'displayRole');
  return NOTICES.has(kind ?? '') || DISPLAYED.has(display ?? '') || INJECTED.some((start) => text.startsWith(start));
}

/** Rows of a conversation, and those that only its branches hold. */
import { hash } from 'node:crypto';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { localTime } from '../dialects/clock.ts';
import { CounterReader } from '../dialects/counters.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  asObject,
  field,
  type Json,
  nameField,
  numberField,
  objectField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, textHint, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { splitThoughts, writtenCalls } from './content.ts';

const ROLES = new Set(['assistant', 'system', 'tool', 'user']);

/** Rows have no id: they are the same where time, role and content are. */
const digestOf = (row: Json): string =>
  hash('sha1', JSON.stringify([field(row, 'timestamp'), field(row, 'role'), field(row, 'content')]), 'base64');

interface Place {
  readonly at: (slot: string) => EventAt;
  readonly position: Position;
  readonly digest: string;
  readonly isActive: boolean;
}

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  /** How often each row was seen. */
  private readonly seen = new Map<string, number>();
  private readonly servedAs = new Set<string>();
  private ordinal = 0;
  private isEmpty = true;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    this.ordinal = frame.ordinal + 1;
    const row = objectOrReport(frame, this.out);
    if (row !== null) this.row(row, digestOf(row), frame.position(), true);
  }

  finish(): void {
    for (const [name, bytes] of Object.entries(this.context.sidecars)) this.branch(name, bytes);
    if (this.isEmpty) return;
    const { source } = this.context;
    this.out.session(
      sessionFields({
        session_id: source.name,
        title: textHint(source, 'title'),
        cwd: textHint(source, 'cwd'),
        resume_command: resumeCommand('gptme --name', source.name),
        extra: this.servedAs.size === 0 ? null : { resolved_models: [...this.servedAs] },
      }),
    );
  }

  /** A copy of the conversation from before an edit or an undo: what it holds alone is not live. */
  private branch(name: string, bytes: Buffer): void {
    bytes
      .toString('utf8')
      .split('\n')
      .forEach((line, index) => {
        if (line.trim() === '') return;
        const locator = `/${name}/${index}`;
        const position: Position = { ordinal: this.ordinal++, byteStart: null, byteEnd: null, locator };
        const row = asObject(parseOrUndefined(line));
        if (row === null) {
          this.out.badRecord(position, 'malformed_json', 'a line of a branch is no JSON object');
          return;
        }
        const digest = digestOf(row);
        if (!this.seen.has(digest)) this.row(row, digest, position, false);
      });
  }

  private row(row: Json, digest: string, position: Position, isActive: boolean): void {
    const role = stringField(row, 'role') ?? '(no role)';
    if (!ROLES.has(role)) {
      this.out.unknown(`role/${role}`);
      return;
    }
    const content = stringField(row, 'content');
    if (content === null) {
      this.out.badRecord(position, 'wrong_type', 'the content of the row is no text');
      return;
    }
    this.isEmpty = false;
    const count = (this.seen.get(digest) ?? 0) + 1;
    this.seen.set(digest, count);
    const time = localTime(field(row, 'timestamp'));
    const id = count === 1 ? digest : `${digest} ${count}`;
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    const place: Place = { at, position, digest, isActive };
    const metadata = objectField(row, 'metadata') ?? {};
    const callId = nameField(row, 'call_id');
    // Answers of tools are filed as the system's; older ones carry no mark, and cannot be told from it.
    if (role === 'tool' || (role === 'system' && (callId !== null || nameField(metadata, 'tool') !== null)))
      tellResults([{ callId, isError: null, output: content || null }], { at }, this.out);
    else if (role === 'assistant') this.reply(content, metadata, place);
    else this.said(role === 'user' ? 'user' : 'system', content.trim() === '' ? null : content, null, null, place);
  }

  private reply(content: string, metadata: Json, place: Place): void {
    const { text, thinking } = splitThoughts(content);
    const model = nameField(metadata, 'model');
    const served = nameField(metadata, 'resolved_model');
    if (served !== null) this.servedAs.add(served);
    this.said('assistant', text, thinking, model, place);
    const calls = writtenCalls(text ?? '').map((call) => ({ ...call, input: parseOrUndefined(call.arguments) }));
    tellCalls(calls, { at: place.at }, this.out);
    this.usage(metadata, model, place);
  }

  private said(
    role: 'assistant' | 'system' | 'user',
    text: string | null,
    thinking: string | null,
    model: string | null,
    { at, isActive }: Place,
  ): void {
    if (text === null && thinking === null) return;
    this.out.message(
      at('message'),
      messageFields({
        role,
        kind: 'message',
        model,
        text,
        thinking,
        is_meta: role === 'system',
        is_active: isActive,
        content_kinds: [...(thinking === null ? [] : ['thinking']), ...(text === null ? [] : ['text'])],
      }),
    );
  }

  /** Disjoint: what came from cache is taken off before it is written (writer). Old rows hold the counters flat. */
  private usage(metadata: Json, model: string | null, { at, position, digest }: Place): void {
    const usage = objectField(metadata, 'usage') ?? metadata;
    const reader = new CounterReader(this.out, position);
    const input = reader.read(usage, 'input_tokens');
    const output = reader.read(usage, 'output_tokens');
    const cacheRead = reader.read(usage, 'cache_read_tokens');
    const cacheWrite = reader.read(usage, 'cache_creation_tokens');
    if (input === null && output === null && cacheRead === null && cacheWrite === null) return;
    this.out.usage(
      at('usage'),
      usageObservation({
        model,
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cacheRead,
        cache_write_tokens: cacheWrite,
        input_includes_cache_read: false,
        input_includes_cache_write: false,
        output_includes_reasoning: true,
        reported_cost_usd: numberField(metadata, 'cost'),
        basis: 'native',
        // A forked conversation repeats its origin's rows, which nothing tells apart: they count once.
        key: digest,
      }),
    );
  }
}

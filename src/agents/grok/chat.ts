/** The model's context, of sessions whose journal says nothing: without times and usage. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { blockText } from '../dialects/anthropic.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { field, type Json, joinTexts, nameField, numberField, objectsField, stringField } from '../dialects/json.ts';
import { readToolCalls } from '../dialects/openai.ts';
import { eventAt, messageFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { sessionIdOf, sessionOf } from './session.ts';

export class ChatDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly sessionId: string;
  private isEmpty = true;
  /** Of the next reply. */
  private thought: { readonly position: Position; readonly texts: (string | null)[] } | null = null;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
    this.sessionId = sessionIdOf(context.source);
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const type = stringField(record, 'type') ?? '(no type)';
    const position = frame.position();
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, null, slot, position);
    if (type === 'reasoning') {
      this.thought ??= { position, texts: [] };
      this.thought.texts.push(...objectsField(record, 'summary').map((part) => stringField(part, 'text')));
    } else if (type === 'assistant') {
      const thinking = joinTexts(this.thought?.texts ?? []);
      this.thought = null;
      this.said(record, position, 'assistant', { thinking });
      tellCalls(readToolCalls(record), { at }, this.out);
    } else {
      this.endThought();
      if (type === 'user') this.user(record, position);
      else if (type === 'system') this.said(record, position, 'system', { isMeta: true });
      else if (type === 'tool_result') {
        const output = blockText(field(record, 'content'));
        tellResults([{ callId: nameField(record, 'tool_call_id'), isError: null, output }], { at }, this.out);
      } else if (type === 'backend_tool_call') this.out.ignored(type);
      else {
        this.out.unknown(type);
        return;
      }
    }
    this.isEmpty = false;
  }

  finish(): void {
    this.endThought();
    if (!this.isEmpty) this.out.session(sessionOf(this.context.source));
  }

  private endThought(): void {
    if (this.thought === null) return;
    const { position, texts } = this.thought;
    this.thought = null;
    this.said({}, position, 'assistant', { thinking: joinTexts(texts) });
  }

  /** Typed are prompts with a number, and what was said in between. */
  private user(record: Json, position: Position): void {
    const reason = nameField(record, 'synthetic_reason');
    const isMeta = reason === null ? numberField(record, 'prompt_index') === null : reason !== 'interjection';
    this.said(record, position, 'user', { isMeta });
  }

  private said(
    record: Json,
    position: Position,
    role: 'assistant' | 'system' | 'user',
    { thinking = null as string | null, isMeta = false },
  ): void {
    const content = field(record, 'content');
    const whole = blockText(content);
    const query = role === 'user' && !isMeta ? /<user_query>([\s\S]*?)<\/user_query>/.exec(whole ?? '') : null;
    const text = query === null ? whole : query[1]!.trim() || null;
    const hasImage =
      Array.isArray(content) && objectsField(record, 'content').some((p) => field(p, 'type') === 'image');
    if (text === null && thinking === null && !hasImage) return;
    this.out.message(
      eventAt(this.sessionId, null, 'message', position),
      messageFields({
        role,
        kind: nameField(record, 'synthetic_reason') ?? stringField(record, 'type') ?? 'reasoning',
        model: role === 'assistant' ? nameField(record, 'model_id') : null,
        text,
        thinking,
        is_meta: isMeta,
        content_kinds: [
          ...(thinking === null ? [] : ['thinking']),
          ...(text === null ? [] : ['text']),
          ...(hasImage ? ['image'] : []),
        ],
      }),
    );
  }
}

/** The model's context of Kimi CLI, where no log is kept: without times and usage. */
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { field, nameField, stringField } from '../dialects/json.ts';
import { readToolCalls } from '../dialects/openai.ts';
import { eventAt, messageFields, textHint } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { isForkTitle } from './kinship.ts';
import { readParts } from './parts.ts';
import { sessionIdOf, sessionOf } from './session.ts';

const SILENT = new Set(['_checkpoint', '_system_prompt', '_usage']);

export class ContextDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly sessionId: string;
  private isEmpty = true;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
    this.sessionId = sessionIdOf(context.source);
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const role = stringField(record, 'role') ?? '(no role)';
    const position = frame.position();
    const at = (slot: string): EventAt => eventAt(this.sessionId, null, slot, position);
    if (SILENT.has(role)) {
      this.out.ignored(role);
      return;
    }
    reportContent(field(record, 'content'), frame.position(), this.out);
    const { text, thinking, kinds } = readParts(field(record, 'content'), (type) => this.out.unknown(type));
    if (role === 'tool') {
      const callId = nameField(record, 'tool_call_id');
      tellResults([{ callId, isError: null, output: text }], { at }, this.out);
    } else if (role === 'user' || role === 'assistant' || role === 'system') {
      if (text !== null || thinking !== null || kinds.some((kind) => kind !== 'text' && kind !== 'thinking'))
        this.out.message(
          at('message'),
          messageFields({
            role,
            kind: 'message',
            model: role === 'assistant' ? textHint(this.context.source, 'model') : null,
            text,
            thinking,
            is_meta: role === 'system' || (role === 'user' && /^<system>[\s\S]*<\/system>$/.test(text?.trim() ?? '')),
            content_kinds: [...kinds],
          }),
        );
      if (role === 'assistant') tellCalls(readToolCalls(record), { at }, this.out);
    } else {
      this.out.unknown(role);
      return;
    }
    this.isEmpty = false;
  }

  finish(): void {
    if (this.isEmpty) return;
    const { source } = this.context;
    const isAgent = textHint(source, 'parent') !== null;
    this.out.session(
      sessionOf(source, isAgent ? 'subagent' : isForkTitle(textHint(source, 'title')) ? 'fork' : 'main'),
    );
  }
}

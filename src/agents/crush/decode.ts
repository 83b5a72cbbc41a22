/** Rows of a session to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { asObject, field, type Json, nameField, numberField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, textHint } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { readParts } from './parts.ts';

const ROLES = new Set(['user', 'assistant', 'system', 'tool']);

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private session: Json = {};

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    if (row === null) return;
    if (frame.locator?.startsWith('sessions/')) this.session = row;
    else this.message(row, frame.position());
  }

  private message(row: Json, position: Position): void {
    const role = stringField(row, 'role') ?? '';
    if (!ROLES.has(role)) {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    const list = field(row, 'parts');
    if (!Array.isArray(list)) {
      this.out.badRecord(position, 'wrong_type', 'the parts of the message are no list');
      return;
    }
    const parts = readParts(list, this.out);
    if (parts.damaged !== null)
      this.out.badRecord(position, 'wrong_type', `a part of type ${parts.damaged} holds no data`);
    const id = nameField(row, 'id');
    // Comments in the schema say milliseconds; every writer writes seconds.
    const time = epochTime(field(row, 'created_at'), 's');
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    if (role !== 'tool' && (parts.text !== null || parts.thinking !== null)) {
      const isSummary =
        field(row, 'is_summary_message') === 1 || (id !== null && id === nameField(this.session, 'summary_message_id'));
      this.out.message(
        at('message'),
        messageFields({
          role: role as 'user' | 'assistant' | 'system',
          message_id: id,
          record_id: id,
          kind: isSummary ? 'summary' : 'message',
          model: role === 'assistant' ? nameField(row, 'model') : null,
          text: parts.text,
          thinking: parts.thinking,
          is_meta: role === 'system' || isSummary,
          content_kinds: parts.kinds,
        }),
      );
    }
    tellCalls(parts.calls, { at, messageId: id }, this.out);
    tellResults(parts.results, { at }, this.out);
  }

  /**
   * The counters of the session's row are those of its last request, and in some versions estimates: no totals. A
   * parent's cost has that of its children in it.
   */
  finish(): void {
    const { source } = this.context;
    const parent = nameField(this.session, 'parent_session_id');
    const cost = numberField(this.session, 'cost');
    this.out.session(
      sessionFields({
        session_id: source.name,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'subagent',
        title: nameField(this.session, 'title'),
        cwd: textHint(source, 'cwd'),
        resume_command: resumeCommand('crush --session', source.name),
        ...(parent === null ? { reported_cost_usd: cost } : {}),
        extra: {
          last_request_prompt_tokens: numberField(this.session, 'prompt_tokens'),
          last_request_completion_tokens: numberField(this.session, 'completion_tokens'),
          ...(parent === null ? {} : { cost_within_parent_usd: cost }),
        },
      }),
    );
  }
}

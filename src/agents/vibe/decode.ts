/** Messages of a session. No times are recorded, and usage for the session only. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, SourceSpec } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { recordKey } from '../dialects/forks.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  asObject,
  boolField,
  field,
  type Json,
  nameField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { readChatContent, readToolCalls } from '../dialects/openai.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  resumeCommand,
  sessionFields,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { tellCalls } from '../dialects/tell-tools.ts';
import { factsOf } from './meta.ts';

/** Identity of a message: answers of tools have none but that of their call. */
export function recordId(message: Json): string | null {
  const id = nameField(message, 'message_id');
  if (id !== null) return id;
  const call = stringField(message, 'role') === 'tool' ? nameField(message, 'tool_call_id') : null;
  return call === null ? null : `tool ${call}`;
}

type Hints = SourceSpec['hints'];

class SessionTeller {
  private readonly out: Emitter;
  private readonly hints: Hints;
  private readonly copies: ReadonlySet<number>;
  private readonly seen = new Set<string>();
  private lastPosition: Position | null = null;

  constructor(hints: Hints, copies: ReadonlySet<number>, out: Emitter) {
    this.hints = hints;
    this.copies = copies;
    this.out = out;
  }

  private get sessionId(): string {
    return String(this.hints['sessionId']);
  }

  message(message: Json, position: Position): void {
    const { out } = this;
    this.lastPosition = position;
    const id = recordId(message);
    // The repair of a turn that was broken off writes the last messages once more.
    if (id !== null && this.seen.has(id)) {
      out.ignored('repeated message');
      return;
    }
    if (id !== null) this.seen.add(id);
    const role = stringField(message, 'role') ?? '';
    const isCopy = id !== null && this.copies.has(recordKey(id));
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, id, slot, position, NO_TIME);
    reportContent(field(message, 'content'), position, out);
    const content = readChatContent(field(message, 'content'), (type) => out.unknown(type));
    if (role === 'tool') {
      out.toolResult(
        at('result'),
        toolResultFields({ is_copy: isCopy, call_id: nameField(message, 'tool_call_id'), output: content.text }),
      );
      return;
    }
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    const thinking = nameField(message, 'reasoning_content');
    const hasImages = objectsField(message, 'images').length > 0;
    const calls = readToolCalls(message);
    if (content.text !== null || thinking !== null || hasImages) {
      out.message(
        at('message'),
        messageFields({
          role,
          is_copy: isCopy,
          message_id: nameField(message, 'message_id'),
          record_id: id,
          text: content.text,
          thinking,
          is_meta: role === 'system' || boolField(message, 'injected') === true,
          content_kinds: [
            ...content.kinds,
            ...(thinking === null ? [] : ['thinking']),
            ...(hasImages ? ['image'] : []),
            ...(calls.length === 0 ? [] : ['tool_use']),
          ],
        }),
      );
    }
    tellCalls(calls, { at, isCopy, messageId: nameField(message, 'message_id') }, out);
  }

  /** Totals of the session; what of them was its parent's is taken off already. */
  finish(): void {
    const { hints, out } = this;
    const text = (name: string): string | null => {
      const value = hints[name];
      return typeof value === 'string' ? value : null;
    };
    const position = { ...(this.lastPosition ?? NOWHERE), locator: 'meta.json' };
    this.usage(position);
    const parent = text('parent');
    const model = text('model');
    out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: hints['isAgent'] === true ? 'subagent' : parent === null ? 'main' : 'fork',
        title: text('title'),
        cwd: text('cwd'),
        git_branch: text('branch'),
        git_commit: text('commit'),
        resume_command: resumeCommand('vibe --resume', this.sessionId),
        reported_cost_usd: typeof hints['session_cost'] === 'number' ? hints['session_cost'] : null,
        extra: model === null ? null : { active_model: model },
      }),
    );
  }

  private usage(position: Position): void {
    const { hints, out } = this;
    const counter = (name: string): number | null => {
      const value = hints[name];
      if (value === 'wrong type')
        out.badRecord(position, 'wrong_type', `the counter ${name} in meta.json is not a number`);
      return typeof value === 'number' ? value : null;
    };
    const prompt = counter('session_prompt_tokens');
    const completion = counter('session_completion_tokens');
    const cached = counter('session_cached_tokens');
    if (prompt === null && completion === null) return;
    out.usage(
      eventAt(this.sessionId, 'meta', 'usage', position, NO_TIME),
      usageObservation({
        model: typeof hints['model'] === 'string' ? hints['model'] : null,
        input_tokens: prompt,
        output_tokens: completion,
        cache_read_tokens: cached,
        input_includes_cache_read: true,
        input_includes_cache_write: false,
        output_includes_reasoning: true,
        basis: 'session_total',
        state: 'unknown',
        key: null,
      }),
    );
  }
}

const NOWHERE: Position = { ordinal: 0, byteStart: null, byteEnd: null, locator: null };

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly teller: SessionTeller;

  constructor({ source, copies }: DecodeContext, out: Emitter) {
    this.out = out;
    this.teller = new SessionTeller(source.hints, copies, out);
  }

  frame(frame: Frame): void {
    const message = objectOrReport(frame, this.out);
    if (message !== null) this.teller.message(message, frame.position());
  }

  finish(): void {
    this.teller.finish();
  }
}

/** One document with facts and messages. */
export class OldDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const document = asObject(frame.json());
    if (document === null || !Array.isArray(field(document, 'messages')))
      throw sourceError('foreign_schema', 'is no session: it has no list of messages');
    const { source, copies } = this.context;
    const teller = new SessionTeller(
      factsOf(objectField(document, 'metadata'), source.name, null, null),
      copies,
      this.out,
    );
    objectsField(document, 'messages').forEach((message, index) => {
      teller.message(message, { ordinal: index, byteStart: null, byteEnd: null, locator: `/messages/${index}` });
    });
    teller.finish();
  }

  finish(): void {}
}

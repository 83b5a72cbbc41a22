/** Lines of a session to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { eventAt, sessionFields, spokenFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { isHeader, partsOf } from './parts.ts';

/** How a session follows another one; a new chat names one too, and does not. */
const CONTINUES = new Set(['directContinuation', 'summarizationRequest', 'summarizedContinuation']);
const KINDS = new Set(['text', 'reasoning', 'skill', 'tool-call', 'tool-result']);

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private header: Json | null = null;
  private cwd: string | null = null;
  private isFirst = true;
  private isEmpty = true;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const { isFirst } = this;
    this.isFirst = false;
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    if (isFirst && isHeader(record)) {
      this.header = record;
      return;
    }
    this.line(record, frame.position());
  }

  finish(): void {
    const { header } = this;
    if (header === null && this.isEmpty) return;
    const text = (key: string): string | null => (header === null ? null : nameField(header, key));
    const continued = CONTINUES.has(text('creationReason') ?? '') ? text('parentId') : null;
    const started = this.context.parentId ?? null;
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: continued ?? started,
        kind: continued === null && started !== null ? 'subagent' : 'main',
        cwd: this.cwd,
        extra: text('modelId') === null ? null : { model_setting: text('modelId') },
      }),
    );
  }

  private get sessionId(): string {
    return (this.header === null ? null : nameField(this.header, 'id')) ?? this.context.source.name;
  }

  private line(record: Json, position: Position): void {
    const role = stringField(record, 'role') ?? '';
    const time = isoTime(field(record, 'createdAt'));
    const at = (slot: string): EventAt => eventAt(this.sessionId, null, slot, position, time);
    switch (role) {
      case 'system':
        this.system(record, at);
        break;
      case 'user':
        this.user(record, at);
        break;
      case 'assistant':
        this.assistant(record, at);
        break;
      case 'tool':
        this.tool(record, at);
        break;
      case 'finish':
      case 'permission':
        this.out.ignored(role);
        return;
      default:
        this.out.unknown(role === '' ? '(no role)' : role);
        return;
    }
    this.isEmpty = false;
    for (const part of objectsField(record, 'content')) {
      const type = stringField(part, 'type') ?? '(no type)';
      if (!KINDS.has(type)) this.out.unknown(`content/${type}`);
    }
  }

  private said(
    at: EventAt,
    role: 'assistant' | 'system' | 'user',
    text: string | null,
    { thinking = null as string | null, isMeta = false } = {},
  ): void {
    const fields = spokenFields({ role, kind: isMeta ? 'injected' : 'message', text, thinking, is_meta: isMeta });
    if (fields !== null) this.out.message(at, fields);
  }

  private system(record: Json, at: (slot: string) => EventAt): void {
    const text = stringField(record, 'content') ?? joinTexts(partsOf(record, 'text').map(textOf));
    this.cwd ??= /^Working directory: (.+?)\r?$/m.exec(text ?? '')?.[1]?.trim() || null;
    this.said(at('message'), 'system', text, { isMeta: true });
  }

  /** What was typed, and then what the program added to it. */
  private user(record: Json, at: (slot: string) => EventAt): void {
    const typed: (string | null)[] = [stringField(record, 'content')];
    const added: (string | null)[] = [];
    for (const part of objectsField(record, 'content')) {
      const type = stringField(part, 'type');
      const tag = stringField(part, 'tag');
      if (type === 'skill') added.push(stringField(part, 'content'));
      else if (type === 'text') (tag === null || tag === 'user-input' ? typed : added).push(textOf(part));
    }
    this.said(at('message'), 'user', joinTexts(typed));
    this.said(at('added'), 'user', joinTexts(added), { isMeta: true });
  }

  private assistant(record: Json, at: (slot: string) => EventAt): void {
    const text = stringField(record, 'content') ?? joinTexts(partsOf(record, 'text').map(textOf));
    this.said(at('message'), 'assistant', text, { thinking: joinTexts(partsOf(record, 'reasoning').map(textOf)) });
    tellCalls(
      partsOf(record, 'tool-call').map((part) => ({
        id: nameField(part, 'toolCallId'),
        name: nameField(part, 'toolName'),
        input: field(part, 'input'),
        arguments: jsonText(field(part, 'input')),
      })),
      { at },
      this.out,
    );
  }

  private tool(record: Json, at: (slot: string) => EventAt): void {
    const results = partsOf(record, 'tool-result');
    const isTagged = (part: Json): boolean => stringField(part, 'tag') !== null;
    tellResults(
      results.map((result) => ({
        callId: nameField(result, 'toolCallId'),
        isError: boolField(result, 'isError'),
        output: joinTexts(
          objectsField(result, 'content')
            .filter((part) => !isTagged(part))
            .map(textOf),
        ),
      })),
      { at },
      this.out,
    );
    const tagged = results.flatMap((result) => objectsField(result, 'content')).filter(isTagged);
    this.said(at('added'), 'user', joinTexts(tagged.map(textOf)), { isMeta: true });
  }
}

const textOf = (part: Json): string | null => stringField(part, 'text');

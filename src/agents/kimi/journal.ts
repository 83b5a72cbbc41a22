/** Journals of Kimi Code: the context of the model, as it grew and was cut. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, MessageFields } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  numberField,
  objectField,
  stringField,
} from '../dialects/json.ts';
import { readToolCalls } from '../dialects/openai.ts';
import { eventAt, messageFields, type Time, textHint, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { type Entry, LiveContext } from './live.ts';
import type { JournalOutline } from './outline.ts';
import { partKind, readParts, said } from './parts.ts';
import { isNewer, sessionIdOf, sessionOf } from './session.ts';
import { type Counters, readCounters } from './usage.ts';

interface Place {
  readonly position: Position;
  readonly time: Time;
  readonly isCopy: boolean;
}

/** A message that is told at the end, when it is known whether it was taken back. */
interface Row extends Place {
  readonly entry: Entry;
  readonly fields: MessageFields;
}

/** A reply that is being written. */
interface Step extends Place {
  readonly uuid: string | null;
  readonly texts: (string | null)[];
  readonly thoughts: (string | null)[];
  readonly kinds: Set<string>;
  readonly calls: string[];
  readonly entry: Entry;
  /** Set by the first request after its beginning. */
  model: string | null;
  hasModel: boolean;
}

/** Origins of messages that a person caused. */
const TYPED = new Set(['plugin_command', 'skill_activation', 'user']);
/** Records that carry no rows: prefixes of their types, and whole ones. */
const SILENT =
  /^(?:metadata|forked|turn\.|llm\.|full_compaction\.|permission\.|tools?\.|plan_mode\.|task\.|cron\.|goal\.|skill\.|session\.|todo\.|swarm\.|mcp\.|hook\.)/;
const LAST_KNOWN = [1, 5] as const;

export class JournalDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext<JournalOutline>;
  private readonly outline: JournalOutline;
  private readonly sessionId: string;
  private readonly live = new LiveContext();
  private readonly rows: (Row | Step)[] = [];
  /** Messages that came while calls were unanswered. */
  private waiting: Row[] = [];
  private readonly pending = new Set<string>();
  private step: Step | null = null;
  /** The step that the next request is of. */
  private lastStep: Step | null = null;
  private alias: string | null = null;
  private cwd: string | null = null;
  private isEmpty = true;

  constructor(context: DecodeContext<JournalOutline>, out: Emitter) {
    this.context = context;
    this.out = out;
    this.outline = context.outline ?? { forkedAt: -1, hasRequests: true };
    this.sessionId = sessionIdOf(context.source);
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const type = stringField(record, 'type') ?? '(no type)';
    if (type !== 'metadata') this.isEmpty = false;
    const place: Place = {
      position: frame.position(),
      time: epochTime(field(record, 'time'), 'ms'),
      isCopy: frame.ordinal < this.outline.forkedAt,
    };
    switch (type) {
      case 'context.append_message':
        this.append(objectField(record, 'message') ?? {}, place);
        break;
      case 'context.append_loop_event':
        this.loop(objectField(record, 'event') ?? {}, place);
        break;
      case 'context.undo':
        this.undo(numberField(record, 'count') ?? 0);
        break;
      case 'context.clear':
        this.giveUp();
        this.live.clear();
        break;
      case 'context.apply_compaction':
        this.compact(record, place);
        break;
      case 'usage.record':
        this.request(record, place);
        break;
      default:
        this.other(type, record);
    }
  }

  finish(): void {
    this.rows.push(...this.waiting);
    for (const row of this.rows) this.tell(row);
    if (this.isEmpty) return;
    const { source } = this.context;
    const isMain = source.hints['isMain'] === true;
    const kind = !isMain ? 'subagent' : textHint(source, 'parent') === null ? 'main' : 'fork';
    this.out.session(sessionOf(source, kind, { cwd: textHint(source, 'cwd') ?? this.cwd }));
  }

  private other(type: string, record: Json): void {
    const isSettings = type === 'config.update' || type === 'profile.bind';
    if (isSettings || type === 'llm.request') this.alias = nameField(record, 'modelAlias') ?? this.alias;
    if (isSettings) this.cwd = nameField(record, 'cwd') ?? this.cwd;
    if (type === 'metadata' && isNewer(stringField(record, 'protocol_version'), LAST_KNOWN))
      this.out.issue('warning', 'newer_version', 'the journal is of a newer protocol; what is known of it was read');
    if (isSettings || SILENT.test(type)) this.out.ignored(type);
    else this.out.unknown(type);
  }

  /** A message that was put before the model. */
  private append(message: Json, place: Place): void {
    const role = stringField(message, 'role');
    reportContent(field(message, 'content'), place.position, this.out);
    const content = readParts(field(message, 'content'), (type) => this.out.unknown(type));
    if (role === 'tool') {
      this.answer(nameField(message, 'toolCallId'), boolField(message, 'isError'), content.text, place);
      return;
    }
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      this.out.unknown(`message/${role ?? '(no role)'}`);
      return;
    }
    const origin = objectField(message, 'origin');
    const kind = (origin === null ? null : nameField(origin, 'kind')) ?? 'user';
    const id = nameField(message, 'id');
    const calls = readToolCalls(message, 'toolCalls');
    const entry: Entry = {
      kind: role === 'user' ? entryKind(kind, origin) : 'other',
      id,
      owner: origin === null ? null : nameField(origin, 'ownerPromptId'),
      calls: calls.flatMap((call) => (call.id === null ? [] : [call.id])),
      isActive: true,
    };
    const fields = messageFields({
      role,
      is_copy: place.isCopy,
      message_id: id,
      kind,
      model: role === 'assistant' ? this.alias : null,
      text: content.text,
      thinking: content.thinking,
      is_meta: role === 'system' || (role === 'user' && !TYPED.has(kind)),
      content_kinds: [...content.kinds],
    });
    const at = (slot: string): ReturnType<typeof eventAt> =>
      eventAt(this.sessionId, null, slot, place.position, place.time);
    tellCalls(calls, { at, isCopy: place.isCopy, messageId: id }, this.out);
    const row: Row = { ...place, entry, fields };
    // Whatever comes between a call and its answer takes its place after it (writer).
    if (this.pending.size > 0) this.waiting.push(row);
    else this.place(row);
  }

  private place(row: Row): void {
    this.rows.push(row);
    this.live.add(row.entry);
    for (const call of row.entry.calls) this.pending.add(call);
  }

  private placeWaiting(): void {
    while (this.waiting.length > 0 && this.pending.size === 0) this.place(this.waiting.shift()!);
  }

  /** Calls without an answer get none any more. */
  private giveUp(): void {
    do {
      this.pending.clear();
      this.placeWaiting();
    } while (this.waiting.length > 0);
    this.pending.clear();
  }

  private loop(event: Json, place: Place): void {
    const type = stringField(event, 'type') ?? '(no type)';
    if (type === 'step.begin') this.begin(event, place);
    else if (type === 'step.end') this.end(event, place);
    else if (type === 'content.part' || type === 'tool.call') {
      const { step } = this;
      if (step === null || nameField(event, 'stepUuid') !== step.uuid)
        this.out.ignored(`${type} of a step that is closed`);
      else if (type === 'tool.call') this.call(event, step, place);
      else this.part(objectField(event, 'part') ?? {}, step);
    } else if (type === 'tool.result') {
      const result = objectField(event, 'result') ?? {};
      const output = field(result, 'output');
      const { text } = readParts(output, (kind) => this.out.unknown(kind));
      const told = typeof output === 'string' ? output : (text ?? jsonText(output));
      this.answer(nameField(event, 'toolCallId'), boolField(result, 'isError'), told, place);
    } else this.out.unknown(`event/${type}`);
  }

  /** A reply that says nothing and calls nothing is none. */
  private close(): void {
    const { step } = this;
    this.step = null;
    if (step !== null && step.calls.length === 0 && !isSaid(stepFields(step))) this.live.remove(step.entry);
    this.giveUp();
  }

  private begin(event: Json, place: Place): void {
    this.close();
    const uuid = nameField(event, 'uuid');
    const calls: string[] = [];
    const entry: Entry = { kind: 'other', id: null, owner: null, calls, isActive: true };
    const said = { texts: [], thoughts: [], kinds: new Set<string>() };
    this.step = { ...place, uuid, ...said, calls, entry, model: this.alias, hasModel: false };
    this.lastStep = this.step;
    this.rows.push(this.step);
    this.live.add(entry);
  }

  private part(part: Json, step: Step): void {
    const type = stringField(part, 'type');
    const kind = partKind(type);
    if (kind === null) {
      this.out.unknown(`content/${type ?? '(no type)'}`);
      return;
    }
    step.kinds.add(kind);
    if (kind === 'text') step.texts.push(stringField(part, 'text'));
    else if (kind === 'thinking') step.thoughts.push(stringField(part, 'think'));
  }

  private call(event: Json, step: Step, { position, time, isCopy }: Place): void {
    const id = nameField(event, 'toolCallId');
    if (id !== null) {
      step.calls.push(id);
      this.pending.add(id);
    }
    const input = field(event, 'args');
    const call = { id, name: nameField(event, 'name'), input, arguments: jsonText(input) };
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, null, slot, position, time);
    tellCalls([call], { at, isCopy, messageId: step.uuid }, this.out);
  }

  private end(event: Json, place: Place): void {
    const { step } = this;
    const usage = objectField(event, 'usage');
    if (usage !== null && !this.outline.hasRequests) {
      const counters = readCounters(usage, 'code', this.out, place.position);
      if (counters !== null) this.usage(counters, step?.model ?? this.alias, place, nameField(event, 'messageId'));
    }
    const reason = stringField(event, 'finishReason');
    if (step === null || nameField(event, 'uuid') !== step.uuid || reason === 'interrupted' || reason === 'error')
      return;
    this.close();
  }

  /** Answers that nobody waits for are none. */
  private answer(id: string | null, isError: boolean | null, output: string | null, place: Place): void {
    const isWaiting = this.waiting.some(({ entry }) => id !== null && entry.calls.includes(id));
    if (id === null || (!this.pending.has(id) && !isWaiting)) {
      this.out.ignored('result without a call that waits for it');
      return;
    }
    this.pending.delete(id);
    this.live.add({ kind: 'other', id: null, owner: null, calls: [], isActive: true });
    const at = (slot: string): ReturnType<typeof eventAt> =>
      eventAt(this.sessionId, null, slot, place.position, place.time);
    tellResults([{ callId: id, isError, output: output || null }], { at, isCopy: place.isCopy }, this.out);
    this.placeWaiting();
  }

  private undo(count: number): void {
    const gone = new Set(this.live.undo(count));
    for (const { calls } of gone) for (const call of calls) this.pending.delete(call);
    if (this.step !== null && gone.has(this.step.entry)) this.step = null;
    if (gone.size > 0) this.placeWaiting();
  }

  /** A summary stands for what was said before; that stays, as history. */
  private compact(record: Json, place: Place): void {
    this.giveUp();
    const summary = field(record, 'summary');
    const parts = typeof summary === 'object' && summary !== null ? field(summary as Json, 'content') : null;
    const text =
      typeof summary === 'string'
        ? summary
        : (stringField(record, 'contextSummary') ?? readParts(parts, (type) => this.out.unknown(type)).text);
    const entry: Entry = { kind: 'summary', id: null, owner: null, calls: [], isActive: true };
    const fields = messageFields({
      role: 'user',
      is_copy: place.isCopy,
      kind: 'compaction_summary',
      text: said(text),
      is_meta: true,
      content_kinds: ['text'],
    });
    this.rows.push({ ...place, entry, fields });
    const isWhole = numberField(record, 'keptUserMessageCount') !== null || boolField(record, 'legacyTail') === false;
    this.live.compact(entry, isWhole ? null : (numberField(record, 'compactedCount') ?? numberField(record, 'count')));
  }

  /** One request each, those beside the turns too: nothing adds up (writer). */
  private request(record: Json, place: Place): void {
    const model = nameField(record, 'model');
    const { lastStep } = this;
    if (lastStep !== null && !lastStep.hasModel && model !== null) {
      lastStep.model = model;
      lastStep.hasModel = true;
    }
    const usage = objectField(record, 'usage');
    const counters = usage === null ? null : readCounters(usage, 'code', this.out, place.position);
    if (counters === null) return;
    this.usage(counters, model, place, null);
  }

  private usage(counters: Counters, model: string | null, { position, time, isCopy }: Place, id: string | null): void {
    const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = counters;
    // The provider gave none.
    if ([input_tokens, output_tokens, cache_read_tokens, cache_write_tokens].every((value) => !value)) return;
    const { source } = this.context;
    // What was copied counts where it was said, as long as that is there.
    if (isCopy && source.hints['isOriginHere'] === true) return;
    const origin = (isCopy ? textHint(source, 'forkedFrom') : null) ?? textHint(source, 'session');
    this.out.usage(
      eventAt(this.sessionId, null, 'usage', position, time),
      usageObservation({
        ...counters,
        message_id: id,
        model,
        basis: 'native',
        key: JSON.stringify([origin, textHint(source, 'agent'), position.ordinal]),
      }),
    );
  }

  private tell(row: Row | Step): void {
    const fields = 'fields' in row ? row.fields : stepFields(row);
    if (!isSaid(fields)) return;
    this.out.message(eventAt(this.sessionId, null, 'message', row.position, row.time), {
      ...fields,
      is_active: row.entry.isActive,
    });
  }
}

const isSaid = ({ text, thinking, content_kinds: kinds }: MessageFields): boolean =>
  text !== null || thinking !== null || kinds.some((kind) => kind !== 'text' && kind !== 'thinking');

const stepFields = (step: Step): MessageFields =>
  messageFields({
    role: 'assistant',
    is_copy: step.isCopy,
    message_id: step.uuid,
    kind: 'step',
    model: step.model,
    text: said(joinTexts(step.texts)),
    thinking: said(joinTexts(step.thoughts)),
    content_kinds: [...step.kinds],
  });

function entryKind(kind: string, origin: Json | null): Entry['kind'] {
  if (kind === 'injection') return 'injection';
  if (kind === 'compaction_summary') return 'summary';
  if (kind === 'user') return 'typed';
  const isCommand = kind === 'skill_activation' || kind === 'plugin_command';
  return isCommand && origin !== null && stringField(origin, 'trigger') === 'user-slash' ? 'typed' : 'other';
}

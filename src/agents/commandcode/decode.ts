/** Entries of a session to what they say; rows of the two layouts before them have the message at their top. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { CounterReader } from '../dialects/counters.ts';
import { recordKey } from '../dialects/forks.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  boolField,
  dig,
  field,
  type Json,
  nameField,
  numberField,
  objectField,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  resumeCommand,
  sessionFields,
  type Time,
  textHint,
  usageObservation,
} from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { readContent } from './content.ts';
import { type EntryOutline, entryId, isHeader, parentOf } from './outline.ts';

const VERSION = 3;

/** Entries that are known and carry no rows. */
const SILENT = new Set(['custom', 'effort_change', 'label', 'model_change', 'session_info']);

/** A message wherever it stands. */
interface Place {
  readonly id: string | null;
  readonly parent: string | null;
  readonly position: Position;
  readonly time: Time;
  readonly isCopy: boolean;
}

interface Said {
  readonly role: 'user' | 'assistant';
  readonly kind: string;
  readonly content: unknown;
  readonly model: string | null;
  readonly messageId: string | null;
  readonly isMeta: boolean;
}

export class SessionDecoder implements Decoder {
  private readonly context: DecodeContext<EntryOutline>;
  private readonly out: Emitter;
  private header: Json | null = null;
  private title: string | null = null;
  private cwd: string | null = null;
  private gitBranch: string | null = null;
  private origin: string | null = null;
  private hasRecords = false;

  constructor(context: DecodeContext<EntryOutline>, out: Emitter) {
    this.context = context;
    this.out = out;
    if (context.outline?.isBroken === true)
      out.issue(
        'warning',
        'broken_branch',
        'an entry refers to one that is not in the file; all entries count as live',
      );
  }

  /** A file that was forked whole keeps its origin's header: the name of the file is the session's own. */
  private get sessionId(): string {
    return this.context.source.name;
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    if (isHeader(record)) this.takeHeader(record);
    else if (stringField(record, 'type') !== null) this.entry(record, frame.position());
    else if (stringField(record, 'role') !== null) this.row(record, frame.position());
    else this.out.unknown('(no type)');
  }

  finish(): void {
    if (!this.hasRecords) return;
    const { source } = this.context;
    const parent = parentOf(source, this.header);
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'fork',
        origin: this.origin ?? textHint(source, 'entrypoint'),
        title: this.title ?? textHint(source, 'title'),
        cwd: this.cwd,
        git_branch: this.gitBranch,
        resume_command: resumeCommand('cmd --resume', this.sessionId),
      }),
    );
  }

  private takeHeader(record: Json): void {
    if (this.header !== null) {
      this.out.ignored('session');
      return;
    }
    const version = field(record, 'version');
    if (typeof version === 'number' && version > VERSION)
      throw sourceError(
        'newer_schema',
        `is of version ${version} of the session format; ${VERSION} is the latest known`,
      );
    this.header = record;
    this.hasRecords = true;
    this.cwd ??= nameField(record, 'cwd');
  }

  private entry(record: Json, position: Position): void {
    this.hasRecords = true;
    const id = entryId(record);
    const type = stringField(record, 'type') ?? '';
    const place: Place = {
      id,
      parent: nameField(record, 'parentId'),
      position,
      time: isoTime(field(record, 'timestamp')),
      isCopy: id !== null && this.context.copies.has(recordKey(id)),
    };
    switch (type) {
      case 'message':
        this.messageEntry(record, place);
        break;
      case 'custom_message':
        this.tell(place, injected(type, field(record, 'content')), false);
        break;
      case 'compaction':
      case 'branch_summary':
        this.tell(place, injected(type, field(record, 'summary')), false);
        break;
      default:
        if (type === 'session_info') this.title = nameField(record, 'name')?.trim() ?? null;
        if (SILENT.has(type)) this.out.ignored(type);
        else this.out.unknown(type);
    }
  }

  private messageEntry(record: Json, place: Place): void {
    const message = objectField(record, 'message');
    if (message === null) {
      this.out.badRecord(place.position, 'wrong_type', 'the message entry holds no message object');
      return;
    }
    const role = stringField(message, 'role');
    if (role !== 'user' && role !== 'assistant') {
      this.out.unknown(`message/${role ?? '(no role)'}`);
      return;
    }
    const meta = objectField(message, 'meta') ?? {};
    const said: Said = {
      role,
      kind: 'message',
      content: field(message, 'content'),
      model: role === 'assistant' ? nameField(record, 'model') : null,
      messageId: nameField(meta, 'messageId'),
      isMeta: isInjected(meta),
    };
    this.tell(place, said, false);
    if (role === 'assistant') this.usage(record, place, said);
  }

  /** A row of the second layout, or of the first. */
  private row(record: Json, position: Position): void {
    this.hasRecords = true;
    const role = stringField(record, 'role');
    if (role !== 'user' && role !== 'assistant' && role !== 'tool' && role !== 'system') {
      this.out.unknown(`message/${role}`);
      return;
    }
    const meta = objectField(record, 'metadata') ?? {};
    this.cwd ??= [
      field(meta, 'cwd'),
      field(meta, 'projectPath'),
      dig(meta, 'context', 'cwd'),
      field(record, 'cwd'),
    ].find((value) => typeof value === 'string' && value !== '') as string | null;
    this.cwd ??= null;
    const branch = nameField(record, 'gitBranch');
    if (branch !== '-') this.gitBranch ??= branch;
    this.origin ??= nameField(meta, 'entrypoint');
    if (role === 'system') {
      this.out.ignored('message/system');
      return;
    }
    const stored = field(meta, 'timestamp');
    // Rows are saved anew again and again: only the first layout has no other time.
    const isSecond = field(meta, 'version') === 2;
    const time = isoTime(stored !== undefined || isSecond ? stored : field(record, 'timestamp'));
    const place: Place = { id: null, parent: null, position, time, isCopy: false };
    const said: Said = {
      role: role === 'assistant' ? 'assistant' : 'user',
      kind: 'message',
      content: field(record, 'content'),
      model: null,
      messageId: nameField(meta, 'messageId'),
      isMeta: isInjected(meta),
    };
    this.tell(place, said, true, role === 'tool');
  }

  /** `isStored`: whether answers say if they failed. `isTool`: nothing but answers is told. */
  private tell(place: Place, said: Said, isStored: boolean, isTool = false): void {
    const { out } = this;
    const { id, isCopy } = place;
    const at = (slot: string): EventAt => eventAt(this.sessionId, id, slot, place.position, place.time);
    reportContent(said.content, place.position, out);
    const blocks = readContent(said.content, (type) => out.unknown(type));
    const kinds = blocks.kinds.filter((kind) => kind !== 'tool_result');
    const isShown = kinds.some((kind) => kind === 'image' || kind === 'file' || kind === 'document');
    if (!isTool && (blocks.text !== null || blocks.thinking !== null || isShown)) {
      const live = this.context.outline?.live ?? null;
      out.message(
        at('message'),
        messageFields({
          role: said.role,
          is_copy: isCopy,
          message_id: said.messageId,
          record_id: id,
          parent_record_id: place.parent,
          kind: said.kind,
          model: said.model,
          text: blocks.text,
          thinking: blocks.thinking,
          is_meta: said.isMeta,
          is_active: live === null || id === null || live.has(id),
          content_kinds: kinds,
        }),
      );
    }
    tellCalls(blocks.calls, { at, isCopy, messageId: said.messageId }, out);
    const results = isStored ? blocks.results : blocks.results.map((result) => ({ ...result, isError: null }));
    tellResults(results, { at, isCopy }, out);
  }

  /** Input holds what came from the cache and what went there, as the AI SDK counts. */
  private usage(record: Json, { id, position, time, isCopy }: Place, { messageId, model }: Said): void {
    const usage = objectField(record, 'usage');
    if (usage === null) return;
    const reader = new CounterReader(this.out, position);
    const counters = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'].map((name) =>
      reader.read(usage, name),
    );
    if (counters.every((counter) => counter === null)) return;
    const [input = null, output = null, cacheRead = null, cacheWrite = null] = counters;
    // Ids of entries are unique in a file only: time and counters tell those of other sessions apart.
    const key = id === null ? null : JSON.stringify([id, messageId, time.timestampText, model, ...counters]);
    this.out.usage(
      eventAt(this.sessionId, id, 'usage', position, time),
      usageObservation({
        message_id: messageId,
        model,
        input_tokens: heldBy(input, cacheRead, cacheWrite),
        output_tokens: output,
        cache_read_tokens: cacheRead,
        cache_write_tokens: cacheWrite,
        cache_write_1h_tokens: reader.read(usage, 'cacheWriteTokens1h'),
        input_includes_cache_read: true,
        input_includes_cache_write: true,
        output_includes_reasoning: true,
        reported_cost_usd: numberField(usage, 'costUsd'),
        basis: 'native',
        key,
        native: !isCopy,
      }),
    );
  }
}

/** Where input is less than what it holds, nothing is left of it: the counters of some providers do not fit. */
const heldBy = (input: number | null, ...parts: readonly (number | null)[]): number | null => {
  const held = parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
  return input === null || input >= held || input < 0 ? input : held;
};

/** What the program put in. */
const injected = (kind: string, content: unknown): Said => ({
  role: 'user',
  kind,
  content,
  model: null,
  messageId: null,
  isMeta: true,
});

const isInjected = (meta: Json): boolean =>
  ['isMeta', 'isSummary', 'isAutomated'].some((name) => boolField(meta, name) === true);

/** Records of a transcript. Usage stands beside it, as totals of the session. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { blockText, readBlocks } from '../dialects/anthropic.ts';
import { isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { CounterReader } from '../dialects/counters.ts';
import { recordKey } from '../dialects/forks.ts';
import {
  asObject,
  boolField,
  field,
  type Json,
  joinTexts,
  nameField,
  objectField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  resumeCommand,
  sessionFields,
  textHint,
  usageObservation,
} from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { type Totals, without } from './totals.ts';

const PLACEHOLDERS = new Set(['New Session', 'Generating title…']);
const INJECTED = /<(system-reminder|system-notification|remote-delegation-instructions)>[\s\S]*?<\/\1>/g;
const SILENT = new Set(['agent_turn_outcome', 'todo_state']);

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly totals: Totals | null;
  private start: Json | null = null;
  private isForeign = false;
  /** Whether the first record after the header is a compaction: then this session was made by one. */
  private isCompacted: boolean | null = null;
  private lastPosition: Position = { ordinal: 0, byteStart: null, byteEnd: null, locator: null };

  constructor(context: DecodeContext, out: Emitter, totals: Totals | null) {
    this.context = context;
    this.out = out;
    this.totals = totals;
  }

  private get sessionId(): string {
    return (this.start === null ? null : nameField(this.start, 'id')) ?? this.context.source.name;
  }

  frame(frame: Frame): void {
    const record = asObject(frame.json());
    const type = record === null ? '(no object)' : (stringField(record, 'type') ?? '(no type)');
    if (this.start === null && !this.isForeign) {
      this.isForeign = type !== 'session_start';
      if (record !== null && !this.isForeign) {
        this.start = record;
        return;
      }
    }
    // A file belongs when it begins with a session: the program skips others too.
    if (this.isForeign || record === null) {
      this.out.ignored('line of a file without a session header');
      return;
    }
    this.isCompacted ??= type === 'compaction_state';
    this.lastPosition = frame.position();
    if (type === 'message') this.message(record, frame.position());
    else if (type === 'compaction_state') this.compaction(record, frame.position());
    else if (SILENT.has(type) || type === 'session_start') this.out.ignored(type);
    else this.out.unknown(type);
  }

  private place(
    record: Json,
    position: Position,
  ): { at: (slot: string) => EventAt; isCopy: boolean; id: string | null } {
    const id = nameField(record, 'id');
    const time = isoTime(field(record, 'timestamp'));
    return {
      id,
      isCopy: id !== null && this.context.copies.has(recordKey(id)),
      at: (slot) => eventAt(this.sessionId, id, slot, position, time),
    };
  }

  private compaction(record: Json, position: Position): void {
    const text = nameField(record, 'summaryText');
    const { at, isCopy, id } = this.place(record, position);
    if (text !== null)
      this.out.message(
        at('message'),
        messageFields({
          role: 'user',
          is_copy: isCopy,
          record_id: id,
          kind: 'compaction_state',
          text,
          is_meta: true,
          content_kinds: ['text'],
        }),
      );
  }

  private message(record: Json, position: Position): void {
    const message = objectField(record, 'message');
    const role = message === null ? null : stringField(message, 'role');
    if (message === null || (role !== 'user' && role !== 'assistant' && role !== 'system')) {
      if (message === null) this.out.badRecord(position, 'wrong_type', 'the record holds no message object');
      else this.out.unknown(`message/${role ?? '(no role)'}`);
      return;
    }
    const { at, isCopy, id } = this.place(record, position);
    const content = field(message, 'content');
    reportContent(content, position, this.out);
    const blocks = readBlocks(content, (type) => this.out.unknown(type));
    const kinds = blocks.kinds.filter((kind) => kind !== 'tool_result');
    const typed = role === 'user' ? typedText(content) : blocks.text;
    const thinking =
      joinTexts([
        blocks.thinking,
        nameField(message, 'openaiReasoningSummary'),
        nameField(message, 'chatCompletionReasoningContent'),
      ]) ?? null;
    // What is nothing but injected is a message that nobody typed.
    const text = typed ?? blocks.text;
    if (text !== null || thinking !== null || kinds.some((kind) => kind === 'image' || kind === 'document')) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          is_copy: isCopy,
          record_id: id,
          parent_record_id: nameField(record, 'parentId'),
          model: role === 'assistant' ? nameField(message, 'modelId') : null,
          text,
          thinking,
          is_meta:
            role === 'system' || isHidden(message) || (role === 'user' && typed === null && blocks.text !== null),
          content_kinds: kinds,
        }),
      );
    }
    const tools = { at, isCopy, messageId: id };
    tellCalls(blocks.calls, tools, this.out);
    tellResults(blocks.results, tools, this.out);
  }

  finish(): void {
    const { start } = this;
    if (start === null) return;
    const text = (key: string): string | null => nameField(start, key);
    this.usage(start);
    const title = text('sessionTitle') ?? text('title');
    const parent = text('parent');
    const caller = text('callingSessionId');
    const model = textHint(this.context.source, 'model');
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent ?? caller,
        kind: parent !== null ? 'fork' : caller !== null ? 'subagent' : 'main',
        title: title === null || PLACEHOLDERS.has(title) ? null : title,
        cwd: text('cwd'),
        git_branch: textHint(this.context.source, 'branch'),
        resume_command: resumeCommand('droid --resume', this.sessionId),
        extra: model === null ? null : { model },
      }),
    );
  }

  /** A session that a compaction made goes on counting from the totals of the one before it. */
  private usage(start: Json): void {
    const { totals, context } = this;
    if (totals === null) return;
    const goesOn = nameField(start, 'parent') !== null && !('forkedAtMessageId' in start) && this.isCompacted === true;
    const parent = typeof context.parentId === 'string' ? (parseOrUndefined(context.parentId) as Totals) : null;
    const own = goesOn && parent !== null ? without(totals, parent) : totals;
    const position = { ...this.lastPosition, locator: 'settings.json' };
    if (own === null || (goesOn && parent === null)) {
      this.out.issue(
        'warning',
        'totals_of_parent',
        'the totals may hold those of the session before: its own cannot be told apart',
      );
    }
    const reader = new CounterReader(this.out, position);
    const read = (key: string): number | null => reader.read((own ?? totals) as Json, key);
    const time = isoTime(context.source.hints['lockedAt']);
    this.out.usage(
      eventAt(this.sessionId, 'totals', 'usage', position, time.timestamp === null ? NO_TIME : time),
      usageObservation({
        model: textHint(context.source, 'model'),
        input_tokens: read('inputTokens'),
        output_tokens: read('outputTokens'),
        cache_read_tokens: read('cacheReadTokens'),
        cache_write_tokens: read('cacheCreationTokens'),
        reasoning_tokens: read('thinkingTokens'),
        input_includes_cache_read: false,
        input_includes_cache_write: false,
        output_includes_reasoning: true,
        basis: 'session_total',
        state: 'unknown',
        key: null,
      }),
    );
  }
}

const isHidden = (message: Json): boolean => {
  const visibility = stringField(message, 'visibility');
  return visibility === 'llm_only' || visibility === 'user_only' || boolField(message, 'hiddenFromUserViews') === true;
};

/** Text without what was injected into it; null where nothing is left. */
function typedText(content: unknown): string | null {
  const blocks =
    typeof content === 'string'
      ? [content]
      : (Array.isArray(content) ? content : []).map((block) => {
          const object = asObject(block);
          return object !== null && stringField(object, 'type') === 'text' ? blockText([block]) : null;
        });
  return joinTexts(
    blocks.map((text) => {
      if (text === null) return null;
      const cut = text.replace(INJECTED, '');
      return cut === text ? text : cut.trim();
    }),
  );
}

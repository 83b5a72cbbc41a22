/** Rows of a conversation to what they say. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import { jsonColumn } from '../../framing/row-frames.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { utcTime } from '../dialects/clock.ts';
import { asObject, field, type Json, nameField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, textHint } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { type Content, readContent } from './content.ts';
import { tellUsage } from './usage.ts';

type Role = 'user' | 'assistant' | 'system';

/** Types of rows that are messages; those of role system are notes of the program. */
const ROLES: Readonly<Record<string, Role | null>> = {
  user: 'user',
  agent: 'assistant',
  system: 'system',
  error: 'system',
  gitinfo: 'system',
  warning: 'system',
  modelchange: 'system',
  // Results of tools, which mostly stand on rows of type user.
  tool: null,
  // The name was given: only the usage of that is of interest.
  slug: null,
};

const NOTHING: Content = { text: null, thinking: null, calls: [], results: [], kinds: [] };

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private conversation: Json = {};
  private git: Json = {};
  private lastSequence: unknown = null;
  private hasDoubles = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    if (row === null) return;
    if (frame.locator?.startsWith('conversations/')) this.conversation = row;
    else this.row(row, frame.position());
  }

  private row(row: Json, position: Position): void {
    const id = nameField(row, 'message_id');
    const time = utcTime(field(row, 'created_at'));
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    this.checkSequence(field(row, 'sequence_id'), position);
    const json = new JsonColumns(row);
    const user = asObject(json.read('user_data')) ?? {};
    const usage = asObject(json.read('usage_data'));
    const model = nameField(row, 'model_name') ?? (usage === null ? null : nameField(usage, 'model'));
    const isCopy = nameField(row, 'forked_from_message_id') !== null;
    // Copies repeat the usage of what they were copied from.
    if (!isCopy) {
      const place = { at, position, messageId: id, model };
      if (usage !== null) tellUsage(usage, null, place, this.out);
      const further = json.read('other_usage_data');
      (Array.isArray(further) ? further : []).forEach((value, number) => {
        const call = asObject(value);
        if (call !== null) tellUsage(call, number, place, this.out);
      });
    }
    const type = stringField(row, 'type') ?? '';
    if (type === 'gitinfo') this.git = user;
    const isRepeat = field(row, 'is_repeat') === 1;
    const isProgress = field(user, 'distill_status') !== undefined;
    if (!isRepeat && !isProgress) {
      const data = json.read('llm_data');
      this.message({ type, id, user, model, isCopy, at }, () =>
        data === null || data === undefined ? NOTHING : readContent(data, (kind) => this.out.unknown(kind)),
      );
    }
    // One damaged record, however many of its columns are.
    if (json.fault !== null) throw json.fault;
  }

  private message(
    row: {
      readonly type: string;
      readonly id: string | null;
      readonly user: Json;
      readonly model: string | null;
      readonly isCopy: boolean;
      readonly at: (slot: string) => EventAt;
    },
    read: () => Content,
  ): void {
    const { type, id, user, at, isCopy } = row;
    const isKnown = Object.hasOwn(ROLES, type);
    if (!isKnown) this.out.unknown(`message/${type === '' ? '(no type)' : type}`);
    const role = isKnown ? ROLES[type]! : 'system';
    const content = read();
    const isSummary = String(field(user, 'distilled')) === 'true';
    const written = isSummary
      ? nameField(user, 'distillation_content')
      : role === 'system' && content.text === null
        ? nameField(user, 'text')
        : null;
    const text = written ?? content.text;
    if (role !== null && (text !== null || content.thinking !== null || content.kinds.includes('image'))) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          is_copy: isCopy,
          message_id: id,
          record_id: id,
          kind: type,
          model: role === 'assistant' ? row.model : null,
          text,
          thinking: content.thinking,
          is_meta: role === 'system' || isSummary,
          content_kinds: content.kinds,
        }),
      );
    }
    tellCalls(content.calls, { at, isCopy, messageId: id }, this.out);
    tellResults(content.results, { at, isCopy }, this.out);
  }

  private checkSequence(sequence: unknown, position: Position): void {
    if (sequence !== null && sequence === this.lastSequence && !this.hasDoubles) {
      this.hasDoubles = true;
      this.out.issue(
        'warning',
        'duplicate_sequence',
        'several messages of the conversation have one number; they stand in order of their ids',
        position,
      );
    }
    this.lastSequence = sequence;
  }

  finish(): void {
    const { source } = this.context;
    const caller = nameField(this.conversation, 'parent_conversation_id');
    const origin = textHint(source, 'forkOf');
    const isArchived = field(this.conversation, 'archived') === 1;
    this.out.session(
      sessionFields({
        session_id: source.name,
        parent_session_id: caller ?? origin,
        kind: caller !== null ? 'subagent' : origin !== null ? 'fork' : 'main',
        title: nameField(this.conversation, 'slug'),
        cwd: nameField(this.conversation, 'cwd'),
        git_branch: nameField(this.git, 'branch'),
        git_commit: nameField(this.git, 'commit'),
        extra: isArchived ? { archived: true } : null,
      }),
    );
  }
}

/** JSON columns of a row, each for itself: usage counts also where the message beside it is damaged. */
class JsonColumns {
  /** What is wrong with the first column that is damaged. */
  fault: ScopedError | null = null;
  private readonly row: Json;

  constructor(row: Json) {
    this.row = row;
  }

  read(column: string): unknown {
    try {
      return jsonColumn(this.row, column);
    } catch (error) {
      if (!(error instanceof ScopedError)) throw error;
      this.fault ??= error;
      return null;
    }
  }
}

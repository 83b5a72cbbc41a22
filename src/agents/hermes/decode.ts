/** Rows of a session in the database to what they say. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import { jsonColumn } from '../../framing/row-frames.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { recordKey } from '../dialects/forks.ts';
import { asObject, field, type Json, nameField, stringField, textOrNull } from '../dialects/json.ts';
import { eventAt, resumeCommand, sessionFields } from '../dialects/rows.ts';
import { tellMessage } from './message.ts';
import { originOf } from './sessions.ts';
import { isBeside, tellSession, tellTask, timeOf } from './usage.ts';

/** Content that begins so is JSON; anything else is a text, also where it looks like JSON. */
const JSON_MARK = '\0json:';

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private session: { row: Json; position: Position } | null = null;
  private readonly turns: { row: Json; position: Position }[] = [];

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    if (row === null) return;
    const position = frame.position();
    if (frame.locator?.startsWith('sessions/')) this.session = { row, position };
    else if (frame.locator?.startsWith('session_model_usage/')) this.usage(row, position);
    else this.message(row, position);
  }

  private usage(row: Json, position: Position): void {
    if (isBeside(row))
      tellTask(row, { sessionId: this.context.source.name, position }, timeOf(this.session?.row ?? {}), this.out);
    else this.turns.push({ row, position });
  }

  private message(row: Json, position: Position): void {
    const id = String(row['id']);
    const time = epochTime(field(row, 'timestamp'), 's');
    const columns = new Columns(row);
    const message = {
      role: field(row, 'role'),
      content: columns.content(),
      tool_call_id: field(row, 'tool_call_id'),
      tool_calls: columns.json('tool_calls'),
      reasoning: field(row, 'reasoning'),
      reasoning_content: field(row, 'reasoning_content'),
      reasoning_details: columns.json('reasoning_details'),
    };
    const isSummary = field(row, '_compressed_summary') === 1;
    const isHidden = stringField(row, 'display_kind') === 'hidden';
    tellMessage(
      message,
      {
        recordId: id,
        isActive: field(row, 'isActive') === true,
        isCopy: this.context.copies.has(recordKey(String(row['digest']))),
        isMeta: isSummary || isHidden,
        kind: isSummary ? 'summary' : 'message',
        at: (slot) => eventAt(this.context.source.name, id, slot, position, time),
      },
      this.out,
    );
    if (columns.fault !== null) throw columns.fault;
  }

  finish(): void {
    if (this.session === null) return;
    const { row, position } = this.session;
    const { source } = this.context;
    const hasUsage = tellSession(row, this.turns, { sessionId: source.name, position }, this.out);
    const { parent, kind } = originOf(row as Parameters<typeof originOf>[0]);
    this.out.session(
      sessionFields({
        session_id: source.name,
        parent_session_id: parent,
        kind,
        origin: nameField(row, 'source'),
        title: nameField(row, 'title'),
        cwd: nameField(row, 'cwd'),
        git_branch: nameField(row, 'git_branch'),
        resume_command: resumeCommand('hermes --resume', source.name),
        extra: {
          end_reason: nameField(row, 'end_reason'),
          archived: field(row, 'archived') === 1,
          hidden: field(row, 'hidden') === 1,
          ...(hasUsage ? {} : { model: nameField(row, 'model') }),
        },
      }),
    );
  }
}

/** Columns of a row that hold JSON or long texts; a damaged one leaves the others as they are. */
class Columns {
  /** What is wrong with the first that is damaged. */
  fault: ScopedError | null = null;
  private readonly row: Json;

  constructor(row: Json) {
    this.row = row;
  }

  json(column: string): unknown {
    try {
      // An empty text is none.
      return field(this.row, column) === '' ? null : jsonColumn(this.row, column);
    } catch (error) {
      if (!(error instanceof ScopedError)) throw error;
      this.fault ??= error;
      return null;
    }
  }

  /** A text, or parts. */
  content(): unknown {
    const text = stringField(this.row, 'content');
    if (text === null) return this.json('content');
    if (!text.startsWith(JSON_MARK)) return textOrNull(text);
    try {
      return jsonColumn({ content: text.slice(JSON_MARK.length) }, 'content');
    } catch (error) {
      if (!(error instanceof ScopedError)) throw error;
      this.fault ??= error;
      return text;
    }
  }
}

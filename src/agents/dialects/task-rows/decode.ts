/** Rows of a task, as the panel shows them, to what they say. */
import { ScopedError, sourceError } from '../../../framing/errors.ts';
import type { Frame, Position } from '../../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt, MessageFields } from '../../agent.ts';
import { epochTime } from '../clock.ts';
import { asObject, boolField, dig, type Json, nameField, numberField, stringField } from '../json.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  sessionFields,
  toolCallFields,
  toolResultFields,
  usageObservation,
} from '../rows.ts';
import { identifyTool } from '../tools.ts';
import { ROWS } from './files.ts';
import { folderIn, HistoryFacts, messagesOf } from './history.ts';
import { tellHistory } from './requests.ts';
import { type InputRule, merged, readRowUsage, rowJson } from './usage.ts';

/** What differs between the products. */
export interface TaskProduct {
  readonly input: InputRule;
  /** Where the model of a reply stands: on its row, or in the environment blocks of the requests. */
  readonly model: 'row' | 'environment';
}

/** Rows whose text the assistant said. */
const REPLIES = new Set(['say:text', 'say:completion_result', 'say:plan_completion_result']);
const QUESTIONS: Readonly<Record<string, string>> = { 'ask:followup': 'question', 'ask:plan_mode_respond': 'response' };
const PROMPTS: Readonly<Record<string, boolean>> = {
  'say:task': false,
  'say:user_feedback': false,
  'say:user_feedback_diff': true,
};
const RESULTS = new Set(['say:mcp_server_response', 'say:subtask_result', 'say:codebase_search_result']);
const REQUESTS = new Set(['say:api_req_started', 'say:deleted_api_reqs', 'say:subagent_usage']);
const SILENT =
  /^(?:say|ask):(?:api_req_\w+|api_req|subagent\w*|shell_integration\w*|mcp_server_request_started|checkpoint\w*|task_progress|hook\w*|info|error|error_retry|diff_error|clineignore_error|rooignore_error|condense\w*|sliding_window_truncation|compaction\w*|completion_result|resume_\w+|mistake_limit_reached|auto_approval_max_req_reached|new_task|summarize_task|report_bug|load_mcp_documentation|user_edit_todos|too_many_tools_warning|image|browser_action\w*|inspect_site_result|generate_explanation|command_output|command|mcp_notification|conditional_rules_applied|ulid|interactive_app|payment_required\w*|invalid_model|image_generated|account_\w+|act_mode_respond|pay_as_you_go\w*|conversation_completed)$/;

/** A mark for the panel at the end of a result. */
const CHANGES_MARK = /HAS_CHANGES$/;

interface Row {
  readonly row: Json;
  readonly kind: string;
  readonly ts: number | null;
  readonly position: Position;
  /** Time and how many rows of it came before: rows have no ids. */
  readonly id: string | null;
}

export class TaskDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly product: TaskProduct;
  private readonly history = new HistoryFacts();
  private readonly sameTime = new Map<number, number>();
  private requests = 0;
  private cwd: string | null = null;
  /** A call whose output is still coming, as rows of their own. */
  private output: { readonly lines: string[]; readonly at: EventAt } | null = null;
  /** A request of an old version that waits for the row with its counters. */
  private open: { readonly request: Json; readonly row: Row } | null = null;
  private hasRows = false;

  constructor(context: DecodeContext, out: Emitter, product: TaskProduct) {
    this.context = context;
    this.out = out;
    this.product = product;
  }

  private get sessionId(): string {
    return this.context.source.name;
  }

  frame(frame: Frame): void {
    if (frame.locator === ROWS) this.takeRows(frame);
    else this.takeHistory(frame);
  }

  finish(): void {
    this.endOutput();
    this.endRequest();
    if (this.hasRows) this.tellSession();
  }

  /** Where the rows are missing the history of requests is the session itself. */
  private takeHistory(frame: Frame): void {
    const isOnly = this.context.source.hints['rows'] === null;
    const messages = messagesOf(isOnly ? documentOf(frame) : frame.json());
    if (messages === null) {
      if (isOnly) throw sourceError('foreign_schema', 'is no history: its top is no list');
      this.out.issue(
        'warning',
        'foreign_schema',
        'the history of requests is no list; models and folder are not told by it',
      );
      return;
    }
    for (const message of messages) this.history.add(message);
    if (!isOnly) return;
    this.hasRows = true;
    tellHistory(messages, { sessionId: this.sessionId, facts: this.history }, this.out);
  }

  private takeRows(frame: Frame): void {
    const rows = documentOf(frame);
    if (!Array.isArray(rows)) throw sourceError('foreign_schema', 'is no list of rows');
    this.hasRows = true;
    rows.forEach((value, index) => {
      const position: Position = { ordinal: index, byteStart: null, byteEnd: null, locator: `/${index}` };
      const row = asObject(value);
      if (row === null) {
        this.out.badRecord(position, 'wrong_type', 'the row is no object');
        return;
      }
      // The last row may still be streaming; one that others follow was interrupted, and stays.
      if (index === rows.length - 1 && boolField(row, 'partial') === true)
        this.out.ignored('row that is still streaming');
      else this.tell(this.rowOf(row, position));
    });
  }

  private rowOf(row: Json, position: Position): Row {
    const type = stringField(row, 'type') ?? '';
    const kind = `${type}:${stringField(row, type) ?? ''}`;
    const ts = numberField(row, 'ts');
    const same = ts === null ? 0 : (this.sameTime.get(ts) ?? 0);
    if (ts !== null) this.sameTime.set(ts, same + 1);
    return {
      row,
      kind: position.ordinal === 0 && kind === 'say:text' ? 'say:task' : kind,
      ts,
      position,
      id: ts === null ? null : `${ts}#${same}`,
    };
  }

  private at(row: Row, slot: string): EventAt {
    return eventAt(this.sessionId, row.id, slot, row.position, row.ts === null ? NO_TIME : epochTime(row.ts, 'ms'));
  }

  private tell(row: Row): void {
    const { kind } = row;
    const text = stringField(row.row, 'text');
    if (kind.endsWith(':command_output')) {
      if (this.output === null) this.output = { lines: [], at: this.at(row, 'result') };
      this.output.lines.push(text ?? '');
      return;
    }
    if (Object.hasOwn(PROMPTS, kind)) this.message(row, 'user', text, { is_meta: PROMPTS[kind]! });
    else if (REPLIES.has(kind)) this.message(row, 'assistant', text?.replace(CHANGES_MARK, '') ?? null, {});
    else if (kind === 'say:reasoning') this.reasoning(row, text);
    else if (Object.hasOwn(QUESTIONS, kind)) this.message(row, 'assistant', questionIn(row.row, QUESTIONS[kind]!), {});
    else if (REQUESTS.has(kind)) this.request(row);
    else if (kind === 'say:api_req_finished') this.finishRequest(row);
    else if (!this.tool(row, text)) {
      if (SILENT.test(kind)) this.out.ignored(kind);
      else this.out.unknown(kind);
    }
  }

  private modelOf(row: Row): string | null {
    if (this.product.model === 'row') return asStringOrNull(dig(row.row, 'modelInfo', 'modelId'));
    return this.history.modelAt(row.ts, this.requests);
  }

  private message(row: Row, role: 'user' | 'assistant', text: string | null, more: Partial<MessageFields>): void {
    const images = Array.isArray(row.row['images']) && row.row['images'].length > 0;
    if ((text === null || text === '') && !images && more.thinking === undefined) {
      this.out.ignored(row.kind);
      return;
    }
    this.out.message(
      this.at(row, 'message'),
      messageFields({
        role,
        kind: row.kind,
        model: role === 'assistant' ? this.modelOf(row) : null,
        text: text === '' ? null : text,
        content_kinds: [
          ...(text === null || text === '' ? [] : ['text']),
          ...(images ? ['image'] : []),
          ...(more.thinking == null ? [] : ['thinking']),
        ],
        ...more,
      }),
    );
  }

  private reasoning(row: Row, text: string | null): void {
    const thinking = text === null || text === '' ? nameField(row.row, 'reasoning') : text;
    if (thinking !== null) this.message(row, 'assistant', null, { thinking });
    else this.out.ignored(row.kind);
  }

  /** Whether the row is a call or an answer of a tool. */
  private tool(row: Row, text: string | null): boolean {
    const { kind } = row;
    const isCall = /^(?:ask|say):(?:tool|command|use_mcp_server|use_subagents)$/.test(kind);
    if (!isCall && !RESULTS.has(kind)) return false;
    this.endOutput();
    if (!isCall) {
      this.out.toolResult(this.at(row, 'result'), toolResultFields({ output: text === '' ? null : text }));
      return true;
    }
    const given = rowJson(row.row);
    const name = kind.endsWith(':command')
      ? 'execute_command'
      : kind.endsWith(':use_subagents')
        ? 'use_subagents'
        : given === null
          ? null
          : (nameField(given, kind.endsWith(':tool') ? 'tool' : 'toolName') ?? null);
    const input = kind.endsWith(':command') ? { command: text } : (given ?? text);
    const found = identifyTool(name, input);
    this.out.toolCall(
      this.at(row, 'call'),
      toolCallFields({
        ...found,
        kind: kind.endsWith(':use_mcp_server') ? 'mcp' : kind.endsWith(':command') ? 'shell' : found.kind,
        arguments: kind.endsWith(':command') ? JSON.stringify(input) : text,
      }),
    );
    return true;
  }

  private endOutput(): void {
    const { output } = this;
    this.output = null;
    if (output === null) return;
    this.out.toolResult(output.at, toolResultFields({ output: output.lines.join('\n') || null }));
  }

  private request(row: Row): void {
    const request = rowJson(row.row);
    if (row.kind === 'say:api_req_started') {
      this.endRequest();
      this.requests++;
      this.cwd ??= request === null ? null : folderIn(stringField(request, 'request') ?? '');
      if (request === null) this.out.ignored(row.kind);
      else this.open = { request, row };
    } else if (request !== null) this.usage(row, request);
    else this.out.ignored(row.kind);
  }

  /** Old versions wrote the counters at the end of a request, in a row of its own: one request, not two. */
  private finishRequest(row: Row): void {
    const finished = rowJson(row.row);
    if (finished === null) {
      this.out.ignored(row.kind);
      return;
    }
    if (this.open === null) {
      this.usage(row, finished);
      return;
    }
    this.open = { request: merged(this.open.request, finished), row: this.open.row };
    this.endRequest();
  }

  private endRequest(): void {
    const { open } = this;
    this.open = null;
    if (open !== null) this.usage(open.row, open.request);
  }

  private usage(row: Row, request: Json): void {
    const usage = readRowUsage(request, row.ts, this.product.input, this.out, row.position);
    if (usage === null) {
      this.out.ignored(row.kind);
      return;
    }
    this.out.usage(
      this.at(row, 'usage'),
      usageObservation({
        ...usage,
        model: this.modelOf(row),
        provider: asStringOrNull(dig(row.row, 'modelInfo', 'providerId')) ?? nameField(request, 'inferenceProvider'),
        basis: 'native',
        key: null,
      }),
    );
  }

  private tellSession(): void {
    const { hints } = this.context.source;
    const bytes = this.context.sidecars['item'];
    const item = bytes === undefined ? null : itemOf(bytes);
    const text = (key: string): string | null => (item === null ? null : nameField(item, key));
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: text('parentTaskId'),
        kind: text('parentTaskId') === null ? 'main' : 'subagent',
        origin: 'ide',
        title: text('task') ?? asStringOrNull(hints['title']),
        cwd: asStringOrNull(hints['cwd']) ?? text('workspace') ?? this.cwd ?? this.history.cwd,
        extra: text('mode') === null ? null : { mode: text('mode') },
      }),
    );
  }
}

/** A document that does not parse is no session at all: its writer replaces it in place. */
function documentOf(frame: Frame): unknown {
  try {
    return frame.json();
  } catch (error) {
    if (error instanceof ScopedError && error.scope === 'record') throw sourceError(error.code, error.message, error);
    throw error;
  }
}

function itemOf(bytes: Buffer): Json | null {
  try {
    return asObject(JSON.parse(bytes.toString('utf8')));
  } catch {
    return null;
  }
}

const asStringOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;

/** A question in JSON; old rows are plain text. */
function questionIn(row: Json, key: string): string | null {
  const given = rowJson(row);
  return given === null ? stringField(row, 'text') : stringField(given, key);
}

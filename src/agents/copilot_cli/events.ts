/** Events of a log to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  boolField,
  field,
  type Json,
  jsonText,
  nameField,
  numberField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  resumeCommand,
  sessionFields,
  type Time,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { plainYaml } from '../dialects/yaml.ts';
import { reportDamage } from './damage.ts';
import { eventKey } from './forks.ts';
import { tellChat } from './legacy.ts';
import { dataOf, type LogOutline, TurnCounter } from './outline.ts';
import { RunLedger } from './runs.ts';
import { SILENT } from './types.ts';

interface At {
  readonly id: string | null;
  readonly position: Position;
  readonly time: Time;
  readonly isCopy: boolean;
  readonly turn: string;
}

export class EventDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext<LogOutline>;
  private readonly outline: LogOutline;
  private readonly ledger: RunLedger;
  private readonly turns = new TurnCounter();
  private readonly seen = new Set<string>();
  private readonly calls = new Set<string>();
  private readonly results = new Set<string>();
  private startId: string | null = null;
  private place: Json = {};
  private model: string | null = null;
  private version: string | null = null;
  private spawner: string | null = null;
  private hasEvents = false;

  constructor(context: DecodeContext<LogOutline>, out: Emitter) {
    this.context = context;
    this.out = out;
    this.outline = context.outline ?? { hasReceipts: false, reasoned: new Set() };
    this.ledger = new RunLedger(out, this.outline.hasReceipts);
  }

  private get sessionId(): string {
    return this.startId ?? this.context.source.name;
  }

  frame(frame: Frame): void {
    const event = objectOrReport(frame, this.out);
    if (event === null) return;
    const type = stringField(event, 'type') ?? '';
    const turn = this.turns.at(type);
    const id = nameField(event, 'id');
    if (id !== null && this.seen.has(id)) {
      this.out.ignored('repeated event');
      return;
    }
    if (id !== null) this.seen.add(id);
    this.hasEvents = true;
    reportDamage(type, event, frame.position(), this.out);
    const isCopy = type !== 'session.start' && id !== null && this.context.copies.has(eventKey(id));
    this.tell(
      type,
      dataOf(event),
      { id, position: frame.position(), time: isoTime(field(event, 'timestamp')), isCopy, turn },
      event,
    );
  }

  finish(): void {
    if (!this.hasEvents) return;
    this.ledger.finish(this.sessionId);
    this.tellSession();
  }

  private tell(type: string, data: Json, at: At, event: Json): void {
    switch (type) {
      case 'session.start':
        this.start(data, at);
        break;
      case 'session.resume':
        this.ledger.begin(at.id ?? String(at.position.ordinal), false, this.sessionId);
        this.useModel(nameField(data, 'selectedModel'));
        this.notePlace(objectField(data, 'context'));
        this.out.ignored(type);
        break;
      case 'session.context_changed':
        this.notePlace(data);
        this.out.ignored(type);
        break;
      case 'session.model_change':
        this.useModel(nameField(data, 'newModel'));
        this.out.ignored(type);
        break;
      case 'session.import_legacy':
        tellChat(
          objectField(data, 'legacySession') ?? data,
          { sessionId: this.sessionId, position: at.position, nativeId: at.id },
          this.out,
        );
        break;
      case 'user.message':
        this.prompt(data, at);
        break;
      case 'system.message':
      case 'system.notification':
        this.injected(type, data, at);
        break;
      case 'assistant.message':
        this.reply(data, at);
        break;
      case 'assistant.reasoning':
        this.reasoning(data, at);
        break;
      case 'tool.execution_start':
      case 'tool.user_requested':
        this.call(nameField(data, 'toolCallId'), nameField(data, 'toolName'), field(data, 'arguments'), null, at, data);
        break;
      case 'tool.execution_complete':
        this.result(data, at);
        break;
      default:
        this.usageEvent(type, data, at, event);
    }
  }

  private usageEvent(type: string, data: Json, at: At, event: Json): void {
    const { position, time, isCopy } = at;
    const id = at.id ?? String(position.ordinal);
    switch (type) {
      case 'session.shutdown':
        this.ledger.shutdown(data, id, isCopy, position, time, this.sessionId);
        break;
      case 'session.usage_checkpoint':
        this.ledger.sawCheckpoint();
        break;
      case 'session.usage_record': {
        const usage = objectField(data, 'usage');
        if (usage !== null && !isCopy) this.ledger.receipt(usage, id, position, time, this.sessionId);
        break;
      }
      case 'session.compaction_complete': {
        const usage = objectField(data, 'compactionTokensUsed');
        if (usage !== null && !isCopy) this.ledger.compaction(usage, id, position, time, this.sessionId);
        break;
      }
      default:
        if (!SILENT.test(type)) {
          this.out.unknown(type === '' ? '(no type)' : type);
          return;
        }
    }
    this.out.ignored(type === '' ? String(event['type']) : type);
  }

  private start(data: Json, at: At): void {
    this.startId ??= nameField(data, 'sessionId');
    this.ledger.begin(at.id ?? String(at.position.ordinal), true, this.sessionId);
    this.version ??= nameField(data, 'copilotVersion');
    this.ledger.setVersion(nameField(data, 'copilotVersion'));
    this.spawner ??= nameField(data, 'detachedFromSpawningParentSessionId');
    this.useModel(nameField(data, 'selectedModel'));
    this.notePlace(objectField(data, 'context'));
    const version = numberField(data, 'version');
    if (version !== null && version > 1)
      this.out.issue(
        'warning',
        'newer_version',
        `the log is of version ${version}; what is known of it was read`,
        at.position,
      );
    this.out.ignored('session.start');
  }

  /** The first place counts; what it leaves open, later ones may say. */
  private notePlace(context: Json | null): void {
    if (context !== null && Object.keys(this.place).length === 0) this.place = context;
  }

  /** `auto` names the router, which is no model. */
  private useModel(model: string | null): void {
    if (model !== null) this.model = model === 'auto' ? null : model;
  }

  private at({ id, position, time }: At, slot: string, nativeId = id): ReturnType<typeof eventAt> {
    return eventAt(this.sessionId, nativeId, slot, position, time);
  }

  private prompt(data: Json, at: At): void {
    const text = stringField(data, 'content');
    const hasFiles = objectsField(data, 'attachments').length > 0;
    if ((text === null || text === '') && !hasFiles) return;
    this.out.message(
      this.at(at, 'message'),
      messageFields({
        role: 'user',
        is_copy: at.isCopy,
        message_id: nameField(data, 'messageId'),
        record_id: at.id,
        kind: 'user.message',
        text: text === '' ? null : text,
        is_meta: isInjected(data, text ?? ''),
        content_kinds: [...(text === null || text === '' ? [] : ['text']), ...(hasFiles ? ['file'] : [])],
      }),
    );
  }

  private injected(type: string, data: Json, at: At): void {
    const text = nameField(data, 'content') ?? nameField(data, 'message');
    if (text === null) {
      this.out.ignored(type);
      return;
    }
    this.out.message(
      this.at(at, 'message'),
      messageFields({
        role: type === 'system.message' ? 'system' : 'user',
        is_copy: at.isCopy,
        record_id: at.id,
        kind: type,
        text,
        is_meta: true,
        content_kinds: ['text'],
      }),
    );
  }

  private reply(data: Json, at: At): void {
    const messageId = nameField(data, 'messageId');
    const own = nameField(data, 'model');
    const model = own === null || own === 'auto' ? this.model : own;
    const text = nameField(data, 'content');
    const thinking = nameField(data, 'reasoningText');
    const requests = objectsField(data, 'toolRequests');
    if (text !== null || thinking !== null) {
      this.out.message(
        this.at(at, 'message'),
        messageFields({
          role: 'assistant',
          is_copy: at.isCopy,
          message_id: messageId,
          record_id: at.id,
          author: nameField(data, 'parentToolCallId') === null ? null : 'subagent',
          kind: 'assistant.message',
          model,
          text,
          thinking,
          content_kinds: [
            ...(text === null ? [] : ['text']),
            ...(thinking === null ? [] : ['thinking']),
            ...(requests.length === 0 ? [] : ['tool_use']),
          ],
        }),
      );
    }
    for (const request of requests)
      this.call(
        nameField(request, 'toolCallId'),
        nameField(request, 'name'),
        field(request, 'arguments'),
        messageId,
        at,
        data,
      );
    const output = numberField(data, 'outputTokens');
    if (output === null || at.isCopy) return;
    const key = nameField(data, 'apiCallId') ?? at.id ?? String(at.position.ordinal);
    this.ledger.reply(key, model, output, at.position, at.time);
  }

  /** Reasoning that no message of its turn carries. */
  private reasoning(data: Json, at: At): void {
    const thinking = nameField(data, 'content');
    if (thinking === null || this.outline.reasoned.has(at.turn)) {
      this.out.ignored('assistant.reasoning');
      return;
    }
    this.out.message(
      this.at(at, 'message'),
      messageFields({
        role: 'assistant',
        is_copy: at.isCopy,
        record_id: at.id,
        kind: 'assistant.reasoning',
        model: this.model,
        thinking,
        content_kinds: ['thinking'],
      }),
    );
  }

  private call(
    callId: string | null,
    name: string | null,
    input: unknown,
    messageId: string | null,
    at: At,
    data: Json,
  ): void {
    if (callId !== null && this.calls.has(callId)) return;
    if (callId !== null) this.calls.add(callId);
    const found = identifyTool(name, input);
    this.out.toolCall(
      this.at(at, `call:${callId ?? name}`),
      toolCallFields({
        is_copy: at.isCopy,
        message_id: messageId,
        call_id: callId,
        ...found,
        kind: nameField(data, 'mcpServerName') === null ? found.kind : 'mcp',
        arguments: jsonText(input),
      }),
    );
  }

  /** The first completion of a call counts. */
  private result(data: Json, at: At): void {
    const callId = nameField(data, 'toolCallId');
    if (callId !== null && this.results.has(callId)) {
      this.out.ignored('repeated tool.execution_complete');
      return;
    }
    if (callId !== null) this.results.add(callId);
    const success = boolField(data, 'success');
    const result = objectField(data, 'result');
    const error = objectField(data, 'error');
    this.out.toolResult(
      this.at(at, 'result'),
      toolResultFields({
        is_copy: at.isCopy,
        call_id: callId,
        is_error: success === null ? null : !success,
        output:
          (result === null ? null : stringField(result, 'content')) ??
          (error === null ? null : stringField(error, 'message')),
        output_json: result === null ? null : jsonText(result),
      }),
    );
  }

  private tellSession(): void {
    const { context, place } = this;
    const workspace = context.sidecars['workspace'];
    const notes = workspace === undefined ? {} : plainYaml(workspace.toString('utf8'));
    const note = (key: string): string | null => notes[key] ?? null;
    const parent = this.spawner ?? context.parentId ?? null;
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: this.spawner !== null ? 'subagent' : parent !== null ? 'fork' : 'main',
        title: note('name') ?? note('summary'),
        cwd: nameField(place, 'cwd') ?? note('cwd'),
        git_branch: nameField(place, 'branch') ?? note('branch'),
        git_commit: nameField(place, 'headCommit'),
        agent_version: this.version,
        resume_command: resumeCommand('copilot --resume', this.sessionId),
        extra: nameField(place, 'repository') === null ? null : { repository: nameField(place, 'repository') },
      }),
    );
  }
}

/** Prompts that the program or a skill made. */
function isInjected(data: Json, text: string): boolean {
  const source = nameField(data, 'source');
  return (
    (source !== null && source !== 'user') ||
    boolField(data, 'isAutopilotContinuation') === true ||
    text.startsWith('<skill-context')
  );
}

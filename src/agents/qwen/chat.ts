/** The event log of a session or of a subagent. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { isoTime, parseIsoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { answerOf, type FunctionResponse, isFailed, readParts } from '../dialects/gemini-parts.ts';
import {
  asObject,
  field,
  type Json,
  joinTexts,
  jsonText,
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
  type Time,
  toolCallFields,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import type { ChatOutline } from './outline.ts';
import { type Counters, readUsage } from './usage.ts';

/** A record, of all its lines. */
interface Held {
  readonly uuid: string;
  readonly first: Json;
  readonly position: Position;
  readonly isCopy: boolean;
  readonly parts: unknown[];
  usage: Counters | null;
  time: Time;
}

/** User records that nobody typed. */
const INJECTED = new Set(['notification', 'cron', 'goal_runtime']);

interface Facts {
  cwd: string | null;
  gitBranch: string | null;
  version: string | null;
  title: string | null;
  parent: string | null;
  forkedFrom: string | null;
  hasRecords: boolean;
}

export class ChatDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly outline: ChatOutline;
  private readonly context: DecodeContext<ChatOutline>;
  private readonly held = new Map<string, Held>();
  /** Subagents: the id of the main session and of the agent. */
  private mainSession: string | null = null;
  private readonly agentId: string | null;
  private readonly calls = new Set<string>();
  private readonly results = new Set<string>();
  private readonly facts: Facts = {
    cwd: null,
    gitBranch: null,
    version: null,
    title: null,
    parent: null,
    forkedFrom: null,
    hasRecords: false,
  };

  constructor(context: DecodeContext<ChatOutline>, out: Emitter) {
    this.context = context;
    this.out = out;
    this.outline = context.outline ?? { live: new Set(), isBroken: true, lastLine: new Map() };
    const { agentId } = context.source.hints;
    this.agentId = typeof agentId === 'string' ? agentId : null;
    if (context.outline?.isBroken && context.outline.live.size > 0)
      out.issue(
        'warning',
        'broken_branch',
        'a record refers to one that is not in the file; what lies before it counts as live',
      );
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const type = stringField(record, 'type') ?? '';
    const uuid = nameField(record, 'uuid');
    if (uuid === null || type.startsWith('managed_session_')) {
      this.out.unknown(type === '' ? '(no type)' : type);
      return;
    }
    this.noteFacts(record);
    if (type === 'system') this.system(record);
    else if (type === 'user' || type === 'assistant' || type === 'tool_result') this.gather(record, uuid, frame);
    else this.out.unknown(type);
  }

  finish(): void {
    for (const held of this.held.values()) this.tell(held);
    if (!this.facts.hasRecords) return;
    this.tellSession();
  }

  private noteFacts(record: Json): void {
    const { facts } = this;
    facts.hasRecords = true;
    facts.cwd ??= nameField(record, 'cwd');
    facts.gitBranch ??= nameField(record, 'gitBranch');
    facts.version ??= nameField(record, 'version');
    this.mainSession ??= nameField(record, 'sessionId');
    const origin = objectField(record, 'forkedFrom');
    if (origin !== null) facts.forkedFrom ??= nameField(origin, 'sessionId');
  }

  private get sessionId(): string {
    if (this.agentId !== null) {
      const main = this.mainSession ?? String(this.context.source.hints['parent']);
      return `${main}:${this.agentId}`;
    }
    return this.mainSession ?? this.context.source.name;
  }

  private system(record: Json): void {
    const subtype = stringField(record, 'subtype') ?? '(no subtype)';
    const payload = objectField(record, 'systemPayload');
    if (subtype.startsWith('managed_session_')) {
      this.out.unknown(`system/${subtype}`);
      return;
    }
    if (subtype === 'custom_title' && payload !== null) this.facts.title = nameField(payload, 'customTitle');
    if (subtype === 'parent_session' && payload !== null) this.facts.parent = nameField(payload, 'parentSessionId');
    this.out.ignored(`system/${subtype}`);
  }

  /** A record may stand on several lines: its parts add up, the latest usage counts, the latest time too. */
  private gather(record: Json, uuid: string, frame: Frame): void {
    const message = objectField(record, 'message');
    const parts = message === null ? [] : field(message, 'parts');
    if (message === null) this.out.badRecord(frame.position(), 'wrong_type', 'the record holds no message object');
    else if (parts === undefined) this.out.badRecord(frame.position(), 'no_content', 'the message has no parts');
    else reportContent(parts, frame.position(), this.out);
    let held = this.held.get(uuid);
    if (held === undefined) {
      held = {
        uuid,
        first: record,
        position: frame.position(),
        isCopy: objectField(record, 'forkedFrom') !== null,
        parts: [],
        usage: null,
        time: NO_TIME,
      };
      this.held.set(uuid, held);
    }
    if (Array.isArray(parts)) held.parts.push(...parts);
    held.usage = readUsage(record, this.out, frame.position()) ?? held.usage;
    const text = field(record, 'timestamp');
    const time = parseIsoTime(text);
    if (held.time.timestampText === null || (time !== null && time > (held.time.timestamp ?? 0)))
      held.time = isoTime(text);
    const last = this.outline.lastLine.get(uuid);
    if (last !== undefined && frame.ordinal < last) return;
    this.held.delete(uuid);
    this.tell(held);
  }

  private tell(held: Held): void {
    const { first, uuid, position, isCopy, time } = held;
    const { out, sessionId } = this;
    const type = stringField(first, 'type');
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(sessionId, uuid, slot, position, time);
    const parts = readParts(held.parts, (name) => out.unknown(name));
    const text = joinTexts(parts.texts);
    const thinking = joinTexts(parts.thoughts);
    const hasContent =
      text !== null || thinking !== null || parts.kinds.some((kind) => kind === 'image' || kind === 'file');
    if (type !== 'tool_result' && hasContent) {
      out.message(
        at('message'),
        messageFields({
          role: type === 'user' ? 'user' : 'assistant',
          is_copy: isCopy,
          record_id: uuid,
          parent_record_id: nameField(first, 'parentUuid'),
          author: nameField(first, 'agentName'),
          kind: stringField(first, 'subtype') ?? type,
          model: type === 'assistant' ? nameField(first, 'model') : null,
          text,
          thinking,
          is_meta: type === 'user' && isInjected(first),
          is_active: this.isActive(uuid),
          content_kinds: [...parts.kinds],
        }),
      );
    }
    parts.calls.forEach(({ id, name, args }, index) => {
      if (id !== null && this.calls.has(id)) return;
      if (id !== null) this.calls.add(id);
      out.toolCall(
        at(`call:${id ?? index}`),
        toolCallFields({
          is_copy: isCopy,
          message_id: uuid,
          call_id: id,
          ...identifyTool(name, args),
          arguments: jsonText(args),
        }),
      );
    });
    if (type !== 'assistant') {
      parts.responses.forEach((answer, index) => {
        this.tellResult(held, answer, index);
      });
    }
    if (type === 'assistant' && held.usage !== null) this.tellUsage(held, held.usage);
  }

  private isActive(uuid: string): boolean {
    return this.outline.isBroken || this.outline.live.has(uuid);
  }

  private tellResult(held: Held, { id, response }: FunctionResponse, index: number): void {
    if (id !== null && this.results.has(id)) return;
    if (id !== null) this.results.add(id);
    const result = objectField(held.first, 'toolCallResult');
    this.out.toolResult(
      eventAt(this.sessionId, held.uuid, `result:${id ?? index}`, held.position, held.time),
      toolResultFields({
        is_copy: held.isCopy,
        call_id: id,
        is_error: isFailed(result === null ? null : stringField(result, 'status'), response),
        ...answerOf(response),
      }),
    );
  }

  private tellUsage(held: Held, counters: Counters): void {
    this.out.usage(
      eventAt(this.sessionId, held.uuid, 'usage', held.position, held.time),
      usageObservation({
        ...counters,
        message_id: held.uuid,
        model: nameField(held.first, 'model'),
        basis: 'native',
        key: held.uuid,
        native: !held.isCopy,
      }),
    );
  }

  private tellSession(): void {
    const { facts, agentId, context } = this;
    const isAgent = agentId !== null;
    const meta = isAgent ? metaOf(context.sidecars['meta']) : null;
    const parentAgent = meta === null ? null : nameField(meta, 'parentAgentId');
    const main = this.mainSession ?? String(context.source.hints['parent'] ?? '');
    const parent = isAgent
      ? parentAgent === null
        ? main
        : `${main}:${parentAgent}`
      : (facts.parent ?? facts.forkedFrom);
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: isAgent ? 'subagent' : facts.forkedFrom !== null ? 'fork' : 'main',
        title: facts.title,
        cwd: facts.cwd,
        git_branch: facts.gitBranch,
        agent_version: facts.version,
        extra: meta === null ? null : taskOf(meta),
        resume_command:
          isAgent || context.source.hints['isArchived'] === true
            ? null
            : resumeCommand('qwen --resume', this.sessionId),
      }),
    );
  }
}

const metaOf = (bytes: Buffer | undefined): Json | null =>
  bytes === undefined ? null : asObject(parseOrUndefined(bytes.toString('utf8')));

/** What the agent was started for. */
function taskOf(meta: Json): Record<string, unknown> | null {
  const found = ['agentType', 'description', 'status', 'toolUseId'].flatMap((key) => {
    const value = nameField(meta, key);
    return value === null ? [] : [[key, value] as const];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}

const isInjected = (record: Json): boolean =>
  INJECTED.has(stringField(record, 'subtype') ?? '') || stringField(record, 'externalInputKind') === 'notification';

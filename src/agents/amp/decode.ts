/** A thread to what it says. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { type BlockResult, readBlocks } from '../dialects/anthropic.ts';
import { epochTime, isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { CounterReader } from '../dialects/counters.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  asObject,
  dig,
  field,
  type Json,
  jsonText,
  nameField,
  numberField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  resumeCommand,
  sessionFields,
  type Time,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { tellCalls } from '../dialects/tell-tools.ts';
import { messageKey } from './forks.ts';

const FAILED = new Set(['error', 'cancelled', 'rejected-by-user']);
/** Runs that have no result yet. */
const OPEN = new Set(['queued', 'in-progress', 'blocked-on-user']);

export class ThreadDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private head: Json = {};
  private forkPoint = -1;
  private readonly occurrences = new Map<string, number>();
  /** Own messages with usage, by the id that the ledger names. */
  private readonly billed = new Set<number>();
  private hasMessages = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  private get sessionId(): string {
    return this.context.source.name;
  }

  frame(frame: Frame): void {
    if (frame.locator === '') {
      const head = asObject(frame.json());
      if (head === null) throw sourceError('foreign_schema', 'is no thread: its top is no object');
      this.head = head;
      const isFork = nameField(head, 'originThreadID') !== null;
      this.forkPoint = isFork ? (numberField(head, 'forkPointIndex') ?? -1) : -1;
      return;
    }
    this.hasMessages = true;
    const message = objectOrReport(frame, this.out);
    if (message !== null) this.message(message, frame.position());
  }

  finish(): void {
    if (!this.hasMessages) return;
    this.ledger();
    this.session();
  }

  /** The id of a message is not unique in a fork, which numbers its own from 0 again: its occurrence belongs to it. */
  private nativeId(message: Json): string {
    const id = String(field(message, 'messageId') ?? '');
    const occurrence = this.occurrences.get(id) ?? 0;
    this.occurrences.set(id, occurrence + 1);
    return `${id}#${occurrence}`;
  }

  private message(message: Json, position: Position): void {
    const role = stringField(message, 'role') ?? '';
    const native = this.nativeId(message);
    if (role === 'info') {
      this.out.ignored('message/info');
      return;
    }
    if (role !== 'user' && role !== 'assistant') {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    const isCopy = position.ordinal <= this.forkPoint && this.context.copies.has(messageKey(position.ordinal, message));
    const usage = objectField(message, 'usage');
    const time = this.timeOf(message, role, usage);
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, native, slot, position, time);
    reportContent(field(message, 'content'), position, this.out);
    const blocks = readBlocks(field(message, 'content'), (type) => this.out.unknown(type));
    const kinds = blocks.kinds.filter((kind) => kind !== 'tool_result');
    const messageId = field(message, 'messageId');
    if (blocks.text !== null || blocks.thinking !== null || kinds.some((kind) => kind === 'image' || kind === 'file')) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          is_copy: isCopy,
          record_id: messageId === undefined ? null : String(messageId),
          model: role === 'assistant' && usage !== null ? nameField(usage, 'model') : null,
          text: blocks.text,
          thinking: blocks.thinking,
          is_meta: role === 'user' && nameField(objectField(message, 'source') ?? {}, 'type') !== null,
          content_kinds: kinds,
        }),
      );
    }
    tellCalls(blocks.calls, { at, isCopy, messageId: native }, this.out);
    for (const result of blocks.results) this.result(result, isCopy, at);
    // What the origin holds is counted there.
    if (role === 'assistant' && usage !== null && !isCopy) this.usage(usage, messageId, position, at('usage'));
  }

  private timeOf(message: Json, role: string, usage: Json | null): Time {
    if (role === 'user') return epochTime(dig(message, 'meta', 'sentAt'), 'ms');
    return usage === null ? NO_TIME : isoTime(field(usage, 'timestamp'));
  }

  private result(result: BlockResult, isCopy: boolean, at: (slot: string) => ReturnType<typeof eventAt>): void {
    const run = objectField(result.block, 'run');
    const status = run === null ? null : stringField(run, 'status');
    if (status !== null && OPEN.has(status)) return;
    const answer = run === null ? undefined : field(run, 'result');
    const object = asObject(answer);
    this.out.toolResult(
      at(`result:${result.callId ?? '?'}`),
      toolResultFields({
        is_copy: isCopy,
        call_id: result.callId,
        is_error: status === 'done' ? false : status !== null && FAILED.has(status) ? true : result.isError,
        output:
          (typeof answer === 'string' ? answer : object === null ? null : stringField(object, 'output')) ??
          result.output ??
          nameField(objectField(run ?? {}, 'error') ?? {}, 'message'),
        output_json: object === null ? null : jsonText(object),
      }),
    );
  }

  private usage(usage: Json, messageId: unknown, position: Position, at: ReturnType<typeof eventAt>): void {
    const reader = new CounterReader(this.out, position);
    const input = reader.read(usage, 'inputTokens');
    const written = reader.read(usage, 'cacheCreationInputTokens');
    const model = nameField(usage, 'model');
    if (typeof messageId === 'number') this.billed.add(messageId);
    // Only Anthropic's models use the labels as they read: for others the uncached prompt is filed as cache writes.
    const isLiteral = model?.includes('claude') === true || (input ?? 0) > 0;
    this.out.usage(
      at,
      usageObservation({
        model,
        input_tokens: isLiteral ? input : sumOf(input, written),
        output_tokens: reader.read(usage, 'outputTokens'),
        cache_read_tokens: reader.read(usage, 'cacheReadInputTokens'),
        cache_write_tokens: isLiteral || written === null ? written : 0,
        input_includes_cache_read: false,
        input_includes_cache_write: false,
        output_includes_reasoning: true,
        basis: 'native',
        key: null,
      }),
    );
  }

  /** Replies that were edited away: billed, and only in the ledger. Its other events are helpers' requests. */
  private ledger(): void {
    const events = objectsField(objectField(this.head, 'usageLedger') ?? {}, 'events');
    events.forEach((event, index) => {
      const type = stringField(event, 'operationType') ?? '(no type)';
      const message = field(event, 'toMessageId');
      if (type !== 'inference' || (typeof message === 'number' && this.billed.has(message))) {
        this.out.ignored(`ledger/${type}`);
        return;
      }
      const position: Position = {
        ordinal: 0,
        byteStart: null,
        byteEnd: null,
        locator: `/usageLedger/events/${index}`,
      };
      const tokens = objectField(event, 'tokens');
      const reader = new CounterReader(this.out, position);
      const id = nameField(event, 'id') ?? `${index}`;
      this.out.usage(
        eventAt(this.sessionId, `ledger ${id}`, 'usage', position, isoTime(field(event, 'timestamp'))),
        usageObservation({
          model: nameField(event, 'model'),
          input_tokens: reader.read(tokens, 'input'),
          output_tokens: reader.read(tokens, 'output'),
          input_includes_cache_read: false,
          input_includes_cache_write: false,
          output_includes_reasoning: true,
          basis: 'native',
          key: null,
        }),
      );
    });
  }

  private session(): void {
    const { head } = this;
    const initial = objectField(objectField(head, 'env') ?? {}, 'initial') ?? {};
    const tree = objectsField(initial, 'trees')[0] ?? {};
    const repository = objectField(tree, 'repository') ?? {};
    const platform = objectField(initial, 'platform') ?? {};
    const origin = nameField(head, 'originThreadID');
    const main = nameField(head, 'mainThreadID');
    const relation = objectsField(head, 'relationships').find(
      (other) =>
        stringField(other, 'role') === 'child' && ['fork', 'handoff'].includes(stringField(other, 'type') ?? ''),
    );
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: origin ?? main ?? (relation === undefined ? null : nameField(relation, 'threadID')),
        kind: origin !== null ? 'fork' : main !== null ? 'subagent' : 'main',
        origin: nameField(platform, 'client'),
        title: nameField(head, 'title'),
        cwd: folderOf(nameField(tree, 'uri')),
        git_branch: nameField(repository, 'ref'),
        git_commit: nameField(repository, 'sha'),
        agent_version: nameField(platform, 'clientVersion'),
        resume_command: resumeCommand('amp threads continue', this.sessionId),
      }),
    );
  }
}

const sumOf = (a: number | null, b: number | null): number | null => (a === null ? b : a + (b ?? 0));

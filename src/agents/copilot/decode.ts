/** A chat session, from its log or a snapshot, to what it says. */
import { ScopedError, sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import {
  asObject,
  boolField,
  dig,
  field,
  type Json,
  nameField,
  numberField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { ObjectLog } from '../dialects/object-log.ts';
import { folderOf } from '../dialects/paths.ts';
import {
  eventAt,
  messageFields,
  sessionFields,
  type Time,
  toolCallFields,
  toolResultFields,
  usageObservation,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { SUPERSEDED } from './kinship.ts';
import { modelForm, readResponse } from './response.ts';
import { type RequestUsage, readRequestUsage } from './usage.ts';

const isText = (value: unknown): value is string => typeof value === 'string';

/** The store serves all providers of chats. */
function isCopilot(session: Json): boolean {
  if (stringField(session, 'responderUsername')?.toLowerCase() === 'github copilot') return true;
  return objectsField(session, 'requests').some((request) => {
    const id = dig(request, 'agent', 'extensionId', 'value') ?? dig(request, 'agent', 'extensionId');
    return isText(id) && id.toLowerCase().startsWith('github.copilot');
  });
}

class SessionTeller {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  get isSuperseded(): boolean {
    return this.context.copies.has(SUPERSEDED);
  }

  /** `removed`: counters last seen of requests that are gone, by id: they were billed. */
  tell(
    session: Json,
    removed: ReadonlyMap<string, { usage: readonly RequestUsage[]; position: Position; time: Time }>,
  ): void {
    const { out } = this;
    if (this.isSuperseded || !isCopilot(session)) {
      out.ignored(this.isSuperseded ? 'session that another file tells' : 'session of another provider');
      return;
    }
    const sessionId = nameField(session, 'sessionId') ?? this.context.source.name;
    const requests = objectsField(session, 'requests');
    const copied = copiedRequests(session, requests);
    requests.forEach((request, index) => {
      const position: Position = { ordinal: index, byteStart: null, byteEnd: null, locator: `/requests/${index}` };
      this.request(request, position, sessionId, index < copied);
    });
    for (const [id, { usage, position, time }] of removed) this.usage(usage, id, position, time, sessionId);
    const title = nameField(session, 'customTitle') ?? nameField(session, 'computedTitle');
    const { cwd } = this.context.source.hints;
    const repository = objectField(session, 'repoData');
    out.session(
      sessionFields({
        session_id: sessionId,
        kind: copied > 0 ? 'fork' : 'main',
        origin: 'ide',
        title,
        cwd: folderOf(nameField(session, 'workingDirectory')) ?? (isText(cwd) ? cwd : null),
        git_branch: repository === null ? null : nameField(repository, 'localBranch'),
      }),
    );
  }

  private request(request: Json, position: Position, sessionId: string, isCopy: boolean): void {
    const { out } = this;
    const requestId = nameField(request, 'requestId');
    const responseId = nameField(request, 'responseId');
    const isActive = boolField(request, 'isHidden') !== true && objectField(request, 'shouldBeRemovedOnSend') === null;
    const asked = epochTime(field(request, 'timestamp'), 'ms');
    const answered = epochTime(field(request, 'responseTimestamp'), 'ms');
    const message = field(request, 'message');
    const text = isText(message)
      ? message
      : asObject(message) === null
        ? null
        : stringField(asObject(message)!, 'text');
    if (text !== null && text !== '') {
      out.message(
        eventAt(sessionId, requestId, 'message', position, asked),
        messageFields({
          role: 'user',
          is_copy: isCopy,
          message_id: requestId,
          record_id: requestId,
          text,
          is_meta: ['isSystemInitiated', 'hiddenFromTranscript', 'requestHiddenFromTranscript'].some(
            (key) => boolField(request, key) === true,
          ),
          is_active: isActive,
          content_kinds: ['text'],
        }),
      );
    }
    const response = readResponse(field(request, 'response'), (type) => out.unknown(type));
    const model = modelOf(request);
    const replyId = responseId ?? (requestId === null ? null : `${requestId}/response`);
    if (response.text !== null || response.thinking !== null) {
      out.message(
        eventAt(sessionId, replyId, 'reply', position, answered),
        messageFields({
          role: 'assistant',
          is_copy: isCopy,
          message_id: responseId,
          record_id: responseId,
          parent_record_id: requestId,
          model,
          text: response.text,
          thinking: response.thinking,
          is_active: isActive,
          content_kinds: [
            ...(response.text === null ? [] : ['text']),
            ...(response.thinking === null ? [] : ['thinking']),
            ...(response.invocations.length === 0 ? [] : ['tool_use']),
          ],
        }),
      );
    }
    const form = modelForm(request);
    response.invocations.forEach((call, index) => {
      const slot = call.callId ?? String(index);
      out.toolCall(
        eventAt(sessionId, replyId, `call:${slot}`, position, answered),
        toolCallFields({
          is_copy: isCopy,
          message_id: responseId,
          call_id: call.callId,
          ...identifyTool(call.name, undefined),
          arguments: form.arguments.get(slot) ?? call.arguments,
        }),
      );
      if (!call.isComplete) return;
      out.toolResult(
        eventAt(sessionId, replyId, `result:${slot}`, position, answered),
        toolResultFields({
          is_copy: isCopy,
          call_id: call.callId,
          is_error: call.isError,
          output: form.outputs.get(slot) ?? null,
        }),
      );
    });
    if (!isCopy) {
      const time = answered.timestamp === null ? asked : answered;
      this.usage(
        readRequestUsage(request, model, out, position),
        requestId ?? String(position.ordinal),
        position,
        time,
        sessionId,
      );
    }
  }

  private usage(
    usage: readonly RequestUsage[],
    requestId: string,
    position: Position,
    time: Time,
    sessionId: string,
  ): void {
    usage.forEach((counters, index) => {
      this.out.usage(
        eventAt(sessionId, requestId, `usage:${index}`, position, time),
        usageObservation({
          ...counters,
          request_id: requestId,
          basis: 'native',
          key: JSON.stringify([sessionId, requestId, index]),
        }),
      );
    });
  }
}

const modelOf = (request: Json): string | null => {
  const resolved = dig(request, 'result', 'metadata', 'resolvedModel');
  return isText(resolved) && resolved !== '' ? resolved : nameField(request, 'modelId');
};

/**
 * Leading requests that a fork copied: each has the time of the fork plus its number, and an id without the prefix of
 * those that were sent (writer). Nothing names the origin.
 */
function copiedRequests(session: Json, requests: readonly Json[]): number {
  const created = numberField(session, 'creationDate');
  if (created === null) return 0;
  const first = requests.findIndex(
    (request, index) =>
      numberField(request, 'timestamp') !== created + index ||
      (stringField(request, 'requestId') ?? 'request_').startsWith('request_'),
  );
  return first === -1 ? requests.length : first;
}

/** The log: entries that change the state before them. */
export class LogDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly log = new ObjectLog();
  private readonly teller: SessionTeller;
  /** Counters of requests as they were last seen. */
  private readonly seen = new Map<string, { usage: readonly RequestUsage[]; position: Position; time: Time }>();
  private isFirst = true;

  constructor(context: DecodeContext, out: Emitter) {
    this.out = out;
    this.teller = new SessionTeller(context, out);
  }

  frame(frame: Frame): void {
    let entry: unknown;
    try {
      entry = frame.json();
    } catch (error) {
      // The first entry that can be read is what counts.
      if (error instanceof ScopedError) this.out.badRecord(frame.position(), error.code, error.message);
      else throw error;
      return;
    }
    const kind = asObject(entry) === null ? undefined : field(asObject(entry)!, 'kind');
    if (this.isFirst && kind !== 0)
      throw sourceError('no_first_state', 'begins with a change, and not with a state to change');
    this.isFirst = false;
    // Before requests can leave: what they cost is kept.
    if (kind === 0 || kind === 2) this.remember(frame.position());
    this.log.apply(entry);
  }

  private remember(position: Position): void {
    const session = asObject(this.log.state);
    if (session === null) return;
    for (const request of objectsField(session, 'requests')) {
      const id = nameField(request, 'requestId');
      if (id === null) continue;
      const usage = readRequestUsage(request, modelOf(request), SILENT_EMITTER, position);
      if (usage.length > 0)
        this.seen.set(id, {
          usage,
          position,
          time: epochTime(field(request, 'responseTimestamp') ?? field(request, 'timestamp'), 'ms'),
        });
    }
  }

  finish(): void {
    const session = asObject(this.log.state);
    if (session === null) return;
    const present = new Set(objectsField(session, 'requests').map((request) => nameField(request, 'requestId')));
    this.teller.tell(session, new Map([...this.seen].filter(([id]) => !present.has(id))));
  }
}

/** Counters that are looked at again and again are reported once, when they are told. */
const SILENT_EMITTER: Emitter = {
  wants: { messages: false, tool_calls: false, tool_results: false, usage: true, sessions: false, history: false },
  message: () => undefined,
  toolCall: () => undefined,
  toolResult: () => undefined,
  usage: () => undefined,
  session: () => undefined,
  history: () => undefined,
  ignored: () => undefined,
  unknown: () => undefined,
  badRecord: () => undefined,
  issue: () => undefined,
};

/** A whole session: a file, or an element of the list in the editor's own store. */
export class SnapshotDecoder implements Decoder {
  private readonly teller: SessionTeller;

  constructor(context: DecodeContext, out: Emitter) {
    this.teller = new SessionTeller(context, out);
  }

  frame(frame: Frame): void {
    const session = asObject(frame.json());
    if (session === null || !Array.isArray(field(session, 'requests')))
      throw sourceError('foreign_schema', 'is no chat session: it has no list of requests');
    this.teller.tell(session, new Map());
  }

  finish(): void {}
}

/** Event logs of Kimi CLI. */
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { objectOf, objectOrReport } from '../dialects/frames.ts';
import { asObject, field, type Json, nameField, objectField, parseOrUndefined, stringField } from '../dialects/json.ts';
import { sessionFields, textHint } from '../dialects/rows.ts';
import { isForkTitle, lineKey } from './kinship.ts';
import { isNewer, sessionIdOf, sessionOf } from './session.ts';
import { type Place, Talk } from './talk.ts';

export interface WireOutline {
  /** By reply: the last line that tells its usage. */
  readonly lastUsage: ReadonlyMap<string, number>;
}

/** Of a line: whose event it is (null: the session's own), and what it says. */
interface Event {
  readonly agent: string | null;
  readonly type: string;
  readonly payload: Json;
}

const LAST_KNOWN = [1, 10] as const;

/** Subagents' events are wrapped in those of their parent, also more than once. */
function eventOf(message: Json, agent: string | null = null): Event | null {
  const type = nameField(message, 'type');
  if (type === null) return null;
  const payload = objectField(message, 'payload') ?? {};
  if (type !== 'SubagentEvent') return { agent, type, payload };
  const event = objectField(payload, 'event');
  const named =
    nameField(payload, 'agent_id') ??
    nameField(payload, 'parent_tool_call_id') ??
    nameField(payload, 'task_tool_call_id');
  return event === null || named === null ? { agent, type, payload } : eventOf(event, named);
}

const usageKey = ({ agent, type, payload }: Event): string | null => {
  if (type !== 'StatusUpdate' || objectField(payload, 'token_usage') === null) return null;
  const id = nameField(payload, 'message_id');
  return id === null ? null : JSON.stringify([agent, id]);
};

export function outlineWire(frames: Iterable<Frame>): WireOutline {
  const lastUsage = new Map<string, number>();
  const mark = Buffer.from('StatusUpdate');
  for (const frame of frames) {
    if (!frame.includes(mark)) continue;
    const record = objectOf(frame);
    const message = record === null ? null : objectField(record, 'message');
    const event = message === null ? null : eventOf(message);
    const key = event === null ? null : usageKey(event);
    if (key !== null) lastUsage.set(key, frame.ordinal);
  }
  return { lastUsage };
}

export class WireDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext<WireOutline>;
  private readonly sessionId: string;
  private readonly own: Talk;
  /** Subagents that have no file of their own. */
  private readonly children = new Map<string, Talk>();
  private readonly ownFiles: ReadonlySet<unknown>;
  private isEmpty = true;

  constructor(context: DecodeContext<WireOutline>, out: Emitter) {
    this.context = context;
    this.out = out;
    const { source } = context;
    this.sessionId = sessionIdOf(source);
    this.own = new Talk(this.sessionId, textHint(source, 'model'), out);
    const files = parseOrUndefined(textHint(source, 'ownFiles') ?? '[]');
    this.ownFiles = new Set(Array.isArray(files) ? files : []);
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const message = asObject(field(record, 'message'));
    const event = message === null ? null : eventOf(message);
    if (event === null) {
      this.header(record);
      return;
    }
    this.isEmpty = false;
    if (event.agent !== null && this.ownFiles.has(event.agent)) {
      this.out.ignored('SubagentEvent');
      return;
    }
    const { copies } = this.context;
    const place: Place = {
      position: frame.position(),
      time: epochTime(field(record, 'timestamp'), 's'),
      isCopy: copies.size > 0 && copies.has(lineKey(frame)),
    };
    const key = usageKey(event);
    const last = key === null ? undefined : this.context.outline?.lastUsage.get(key);
    this.talk(event.agent).take(event.type, event.payload, place, last === undefined || last <= frame.ordinal);
  }

  finish(): void {
    this.own.end();
    for (const talk of this.children.values()) talk.end();
    if (this.isEmpty) return;
    const { source } = this.context;
    const isAgent = textHint(source, 'parent') !== null;
    this.out.session(
      sessionOf(source, isAgent ? 'subagent' : isForkTitle(textHint(source, 'title')) ? 'fork' : 'main'),
    );
    for (const agent of this.children.keys())
      this.out.session(
        sessionFields({
          session_id: this.childId(agent),
          parent_session_id: textHint(source, 'parent') ?? this.sessionId,
          kind: 'subagent',
          cwd: textHint(source, 'cwd'),
        }),
      );
  }

  private header(record: Json): void {
    const type = stringField(record, 'type');
    if (type !== 'metadata') {
      this.out.unknown(type ?? '(no type)');
      return;
    }
    const version = stringField(record, 'protocol_version');
    if (isNewer(version, LAST_KNOWN))
      this.out.issue('warning', 'newer_version', 'the log is of a newer protocol; what is known of it was read');
    this.out.ignored(type);
  }

  private childId(agent: string): string {
    return `${textHint(this.context.source, 'parent') ?? this.sessionId}:${agent}`;
  }

  private talk(agent: string | null): Talk {
    if (agent === null) return this.own;
    let talk = this.children.get(agent);
    if (talk === undefined) {
      talk = new Talk(this.childId(agent), null, this.out);
      this.children.set(agent, talk);
    }
    return talk;
  }
}

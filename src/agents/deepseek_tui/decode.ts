/** A session to what was said in it. Messages have neither ids nor times; tokens are known as one sum only. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { asObject, field, nameField, numberField, objectField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, resumeCommand, sessionFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { type Head, isWhole, messageKey, readHead } from './head.ts';
import { isAdded, isCycle, readContent, withoutTurnMeta } from './messages.ts';

const SCHEMA_VERSION = 1;
const UNNAMED = 'New Session';

interface Held {
  readonly value: unknown;
  readonly position: Position;
}

export class SessionDecoder implements Decoder {
  private readonly context: DecodeContext<number>;
  private readonly out: Emitter;
  private head: Head | null = null;
  /** Messages that a fork may have taken over, until it is known whether all of them are its parent's. */
  private held: Held[] = [];
  private messages = 0;
  private followsCycle = false;

  constructor(context: DecodeContext<number>, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    if (frame.locator === '') this.readHead(frame);
    else this.take({ value: frame.json(), position: frame.position() });
  }

  private readHead(frame: Frame): void {
    const document = asObject(frame.json());
    if (document === null || objectField(document, 'metadata') === null)
      throw sourceError('foreign_schema', 'is no session: it has no metadata');
    const version = field(document, 'schema_version') ?? SCHEMA_VERSION;
    if (version !== SCHEMA_VERSION)
      throw sourceError('foreign_schema', `has schema_version ${JSON.stringify(version)}; known is ${SCHEMA_VERSION}`);
    this.head = readHead(document);
    if (this.head.isCut)
      this.out.issue('info', 'history_cut', 'the store has dropped the oldest messages of the session');
  }

  private take(held: Held): void {
    const forked = this.context.copies.size === 0 ? 0 : (this.head?.forkedCount ?? 0);
    this.messages++;
    if (this.messages <= forked) this.held.push(held);
    else {
      this.release();
      this.message(held, false);
    }
  }

  /** The beginning of a fork is its parent's only where all of it is, in a history that is whole on both sides. */
  private release(): void {
    const { held, head } = this;
    this.held = [];
    const { copies } = this.context;
    const isCopy =
      head !== null &&
      held.length === head.forkedCount &&
      isWhole(head, this.context.outline ?? 0) &&
      held.every(({ value }, index) => copies.has(messageKey(index, value)));
    for (const one of held) this.message(one, isCopy);
  }

  finish(): void {
    this.release();
    if (this.head === null) return;
    const { metadata } = this.head;
    const { source } = this.context;
    const id = this.head.id ?? source.name;
    const title = withoutTurnMeta(nameField(metadata, 'title') ?? '').trim();
    const cost = objectField(metadata, 'cost') ?? {};
    this.out.session(
      sessionFields({
        session_id: id,
        parent_session_id: nameField(metadata, 'parent_session_id'),
        title: title === '' || title === UNNAMED ? null : title,
        cwd: nameField(metadata, 'workspace'),
        resume_command: resumeCommand(`${source.hints['isFormer'] === true ? 'deepseek' : 'codewhale'} resume`, id),
        reported_total_tokens: numberField(metadata, 'total_tokens'),
        reported_cost_usd: numberField(cost, 'session_cost_usd'),
        extra: {
          model: nameField(metadata, 'model'),
          model_provider: nameField(metadata, 'model_provider'),
          subagent_cost_usd: numberField(cost, 'subagent_cost_usd'),
        },
      }),
    );
  }

  private message({ value, position }: Held, isCopy: boolean): void {
    const message = asObject(value);
    if (message === null) {
      this.out.badRecord(position, 'wrong_type', 'the message is no object');
      return;
    }
    const role = stringField(message, 'role') ?? '';
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    const content = readContent(message, (type) => this.out.unknown(type));
    if (content === null) {
      this.out.badRecord(position, 'wrong_type', 'the content of the message is neither a text nor a list');
      return;
    }
    const at = (slot: string): EventAt => eventAt(this.head?.id ?? this.context.source.name, null, slot, position);
    const { text, thinking, calls, results, kinds } = content;
    if (text !== null || thinking !== null) {
      const is_meta = isAdded(role, text, this.followsCycle);
      const fields = { role, kind: 'message', text, thinking, is_meta, is_copy: isCopy, content_kinds: [...kinds] };
      this.out.message(at('message'), messageFields(fields));
    }
    this.followsCycle = isCycle(role, text);
    tellCalls(calls, { at, isCopy }, this.out);
    tellResults(results, { at, isCopy }, this.out);
  }
}

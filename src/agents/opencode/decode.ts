/** Records of a session, from files or rows, to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { asObject, dig, type Json, nameField, objectField, stringField } from '../dialects/json.ts';
import { eventAt, NO_TIME, resumeCommand, sessionFields, type Time } from '../dialects/rows.ts';
import type { OpencodeProduct } from './format.ts';
import { type HeldMessage, tellMessage } from './message.ts';
import { tellNewMessage } from './new-message.ts';

/** What of a session its records need. */
export interface SessionFacts {
  readonly id: string;
  readonly project: string;
  readonly version: string | null;
  /** The version by which counters are told apart; null where it says nothing of them. */
  readonly countingVersion: string | null;
  /** Milliseconds since 1970; null where the session record is missing. */
  readonly created: number | null;
  /** Whether an older session holds the same beginning. */
  readonly isFork: boolean;
  /** From this message on (or, with a part, behind it) the conversation was taken back. */
  readonly revert: { readonly message: string; readonly part: string | null } | null;
}

/** Titles that the program gives until it has a better one. */
const PLACEHOLDER = /^(?:New session|Child session) - \d{4}-\d\d-\d\dT[\d:.]+Z$/;

const titleOf = (session: Json): string | null => {
  const title = nameField(session, 'title');
  return title === null || PLACEHOLDER.test(title) ? null : title;
};

/**
 * Takes the records in their order: the session, then each message followed by its parts. `order`: `records` come in
 * the order of the conversation, `names` (files) only nearly, and are put in order at the end.
 */
export class OpencodeDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly product: OpencodeProduct;
  private readonly order: 'names' | 'records';
  private readonly context: DecodeContext;
  private session: Json | null = null;
  private facts: SessionFacts;
  private current: HeldMessage | null = null;
  private held: HeldMessage[] = [];
  private isReverted = false;
  /** Role and time of messages that the newer tables hold. */
  private readonly told = new Set<string>();
  private hasRecords = false;

  constructor(context: DecodeContext, out: Emitter, product: OpencodeProduct, order: 'names' | 'records') {
    this.out = out;
    this.product = product;
    this.order = order;
    this.context = context;
    this.facts = this.factsOf(null);
  }

  frame(frame: Frame): void {
    const [kind, id, partId] = frame.locator!.split('/');
    switch (kind) {
      case 'session':
      case 'session_v2':
        this.takeSession(frame);
        break;
      case 'session_message':
        this.hasRecords = true;
        this.takeNewMessage(frame);
        break;
      case 'message':
        this.hasRecords = true;
        this.endMessage();
        this.takeMessage(frame, id!);
        break;
      case 'part':
        this.takePart(frame, id!, partId!);
        break;
    }
  }

  finish(): void {
    this.endMessage();
    const created = (held: HeldMessage): number => held.time.timestamp ?? Number.POSITIVE_INFINITY;
    this.held.sort((a, b) => created(a) - created(b) || (a.id < b.id ? -1 : 1));
    for (const held of this.held) this.tell(held);
    if (this.session !== null || this.hasRecords) this.tellSession();
  }

  private takeSession(frame: Frame): void {
    const session = asObject(frame.json());
    if (session === null) return;
    // A session in both tables: what the newer one leaves open, the older one says.
    const known = Object.entries(session).filter(([, value]) => value !== null && value !== undefined);
    this.session = this.session === null ? session : { ...Object.fromEntries(known), ...withoutNulls(this.session) };
    this.facts = this.factsOf(this.session);
  }

  private factsOf(session: Json | null): SessionFacts {
    const { source } = this.context;
    const revert = session === null ? null : objectField(session, 'revert');
    const message = revert === null ? null : nameField(revert, 'messageID');
    return {
      // File and row names count: what a file says inside may be stale (the vendor's own import goes by names).
      id: source.name,
      project: String((session === null ? null : nameField(session, 'projectID')) ?? source.hints['project'] ?? ''),
      version: session === null ? null : nameField(session, 'version'),
      countingVersion: session === null || this.product.hasOldVersions !== true ? null : nameField(session, 'version'),
      created: epochTime(dig(session, 'time', 'created'), 'ms').timestamp,
      isFork: typeof source.hints['forkOf'] === 'string' || (session !== null && nameField(session, 'forkID') !== null),
      revert: message === null ? null : { message, part: nameField(revert!, 'partID') },
    };
  }

  private takeMessage(frame: Frame, id: string): void {
    const data = asObject(frame.json());
    if (data === null) {
      this.out.badRecord(frame.position(), 'wrong_type', 'the message is no object');
      return;
    }
    this.current = { id, data, position: frame.position(), time: timeOf(data), parts: [] };
  }

  private takePart(frame: Frame, messageId: string, id: string): void {
    if (this.current?.id !== messageId) {
      this.out.ignored('part of an unknown message');
      return;
    }
    const data = asObject(frame.json());
    if (data === null) this.out.badRecord(frame.position(), 'wrong_type', 'the part is no object');
    else this.current.parts.push({ id, data, position: frame.position() });
  }

  private endMessage(): void {
    const { current } = this;
    this.current = null;
    if (current === null) return;
    // A session that was moved to the newer tables is told from there.
    if (this.told.has(tellingKey(stringField(current.data, 'role'), current.time))) return;
    if (this.order === 'names') this.held.push(current);
    else this.tell(current);
  }

  private tell(message: HeldMessage): void {
    tellMessage(message, this.isActive(message.id), this.facts, this.out);
  }

  /** Ids sort by age, but the place in the order is what counts: all after the message that was taken back go too. */
  private isActive(messageId: string): boolean {
    const { revert } = this.facts;
    if (revert === null) return true;
    if (this.isReverted) return false;
    if (messageId !== revert.message) return true;
    this.isReverted = true;
    return revert.part !== null;
  }

  private takeNewMessage(frame: Frame): void {
    const row = asObject(frame.json());
    const data = row === null ? null : objectField(row, 'data');
    if (row === null || data === null) {
      this.out.badRecord(frame.position(), 'wrong_type', 'the data of the message is no object');
      return;
    }
    const id = nameField(row, 'id') ?? '';
    const type = stringField(row, 'type') ?? '';
    const time = timeOf(data).timestamp === null ? epochTime(row['created'], 'ms') : timeOf(data);
    if (type === 'user' || type === 'assistant') this.told.add(tellingKey(type, time));
    tellNewMessage({ id, type, data, position: frame.position(), time }, this.facts, this.out);
  }

  private tellSession(): void {
    const { out, session, facts, product } = this;
    const parent = session === null ? null : (nameField(session, 'parentID') ?? nameField(session, 'forkID'));
    const isChild = session !== null && nameField(session, 'parentID') !== null;
    out.session(
      sessionFields({
        session_id: facts.id,
        parent_session_id: parent,
        kind: isChild ? 'subagent' : facts.isFork ? 'fork' : 'main',
        title: session === null ? null : titleOf(session),
        cwd: session === null ? null : nameField(session, 'directory'),
        agent_version: facts.version,
        resume_command: product.resume === null ? null : resumeCommand(product.resume, facts.id),
        ...(session === null ? {} : reportedTotals(session)),
      }),
    );
  }
}

const withoutNulls = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));

const tellingKey = (role: string | null, time: Time): string => `${role} ${time.timestamp}`;

const timeOf = (data: Json): Time => {
  const created = dig(data, 'time', 'created');
  return created === undefined ? NO_TIME : epochTime(created, 'ms');
};

const count = (session: Json, key: string): number | null => {
  const value = session[key];
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
};

/** Running sums that the program keeps; a fork's hold those of the copied messages. Never part of the ledger. */
const reportedTotals = (session: Json): Record<string, number | null> => ({
  reported_input_tokens: count(session, 'tokens_input'),
  reported_output_tokens: count(session, 'tokens_output'),
  reported_reasoning_tokens: count(session, 'tokens_reasoning'),
  reported_cache_read_tokens: count(session, 'tokens_cache_read'),
  reported_cache_write_tokens: count(session, 'tokens_cache_write'),
  reported_cost_usd: typeof session['cost'] === 'number' ? session['cost'] : null,
});

/** Identity and place of an event of a message. */
export const messageEvent = (
  facts: SessionFacts,
  messageId: string,
  slot: string,
  position: Position,
  time: Time,
): ReturnType<typeof eventAt> => eventAt(facts.id, messageId, slot, position, time);

/** Copied from the older session: a fork keeps the times, and was made after all that it copied. */
export const isCopied = (facts: SessionFacts, time: Time): boolean =>
  facts.isFork && facts.created !== null && time.timestamp !== null && time.timestamp < facts.created;

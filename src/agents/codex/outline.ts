/**
 * What the first rows of a rollout need to know of its end: which prompts were taken back, whether its messages stand in
 * response items (then their mirrors are no messages), where the usage records begin. Most lines are passed over by
 * their heads; of 10 GB only prompts and rollbacks are parsed.
 */

import type { Frame } from '../../framing/frame.ts';
import { type Links, ReadWholeSource, type SourceSpec } from '../agent.ts';
import { countField, field, type Json, nameField, stringField } from './guards.ts';
import { type LineHead, readHead } from './head.ts';
import { type Header, isOwnHeader, readHeader, threadIdOfName } from './header.ts';
import { lineOf, links } from './kinship.ts';
import { type RolloutLine, readLine } from './line.ts';
import { isTypedMirror } from './messages.ts';
import { isTypedMessage } from './meta.ts';
import { RollbackLog, type Span } from './rollback.ts';
import { isClosed } from './scan.ts';
import { type RolloutState, stateOf } from './state.ts';
import { MIRROR_EVENTS } from './types.ts';
import { readVector, type Vector } from './usage.ts';

export interface RolloutOutline {
  /** Records that rollbacks took back. */
  readonly inactive: readonly Span[];
  /** Typed user messages that are active at the end: how far a later rollback can reach into what was told. */
  readonly activePrompts: number;
  /** Whether a response item of type message stands in the source. */
  readonly hasMessages: boolean;
  /** First usage record of this thread: from there on `token_count` lines are no usage. */
  readonly firstRecord: { readonly ordinal: number; readonly usage: Vector | null } | null;
  /** Ordinal that the last line carries; null where lines carry none. */
  readonly lastOrdinal: number | null;
}

/** Of a source of which nothing is known. */
export const EMPTY_OUTLINE: RolloutOutline = {
  inactive: [],
  activePrompts: 0,
  hasMessages: false,
  firstRecord: null,
  lastOrdinal: null,
};

const ROLE = /^(?:,"id":(?:null|"[^"\\]*"))?,"role":"([a-z]+)"/;
/** A prompt whose first item begins with a plain character: typed, unless kinds say otherwise. */
const PLAIN_PROMPT = /^,"content":\[\{"type":"input_text","text":"[^\s"\\<#]/;
const KINDS = Buffer.from('"content_item_kinds"');

class OutlineReader {
  readonly #source: SourceSpec;
  readonly #resume: RolloutState | null;
  readonly #prompts: RollbackLog;
  /** Prompts by mirror events, while no message was seen. */
  #mirrored: RollbackLog | null;
  #hasMessages: boolean;
  #firstRecord: RolloutOutline['firstRecord'] = null;
  #lastOrdinal: number | null;
  #header: Header | null;
  /** The first line, kept unparsed until its header is asked for. */
  #first: Buffer | null = null;
  #lines = 0;
  #secondId: string | null = null;
  #secondHasOrdinal = false;

  constructor(source: SourceSpec, resume: RolloutState | null) {
    this.#source = source;
    this.#resume = resume;
    const earlier = resume?.activePrompts ?? 0;
    // Prompts told from mirrors are none once a message turns up, which is a reason to read the whole source again.
    this.#prompts = new RollbackLog(resume?.toldMirrors ? 0 : earlier);
    this.#hasMessages = resume?.hasMessages ?? false;
    this.#mirrored = this.#hasMessages ? null : new RollbackLog(earlier);
    this.#lastOrdinal = resume?.lastOrdinal ?? null;
    this.#header = resume?.header ?? null;
    this.#lines = resume?.lines ?? 0;
    this.#secondId = resume?.secondId ?? null;
    this.#secondHasOrdinal = resume?.secondHasOrdinal ?? false;
  }

  frame(frame: Frame): void {
    const bytes = frame.bytes();
    const head = readHead(bytes);
    const isPlainSecond = this.#lines === 1 && head !== null && head.type !== 'session_meta' && isClosed(bytes);
    if (this.#lines < 2 && !isPlainSecond) {
      this.#opening(frame, head);
      return;
    }
    this.#lines = 2;
    if (head === null) {
      const line = lineOf(frame);
      if (line !== null) this.#line(line, frame.ordinal);
      return;
    }
    if (head.ordinal !== null) this.#lastOrdinal = head.ordinal;
    if (this.#isPlainPrompt(head, frame)) this.#seenPrompt(frame.ordinal);
    else if (this.#matters(head, bytes)) {
      const line = lineOf(frame);
      if (line !== null) this.#line(line, frame.ordinal);
    }
  }

  /** The first two lines: header, and what stands directly after it. */
  #opening(frame: Frame, head: LineHead | null): void {
    if (frame.ordinal === 0 && head?.type === 'session_meta' && isClosed(frame.bytes())) {
      if (head.ordinal !== null) this.#lastOrdinal = head.ordinal;
      this.#first = Buffer.from(frame.bytes());
      this.#lines = 1;
      return;
    }
    const line = lineOf(frame);
    if (line === null) return;
    this.#lines++;
    if (line.type === 'session_meta') {
      const nameId = threadIdOfName(this.#source.name);
      if (this.#lines === 1) {
        if (isOwnHeader(line.payload, frame.ordinal, nameId)) this.#header = readHeader(line.payload, nameId);
      } else {
        this.#secondId = nameField(line.payload, 'id');
        this.#secondHasOrdinal = line.ordinal !== null;
      }
    }
    this.#line(line, frame.ordinal);
  }

  #isPlainPrompt(head: LineHead, frame: Frame): boolean {
    if (head.type !== 'response_item' || head.payloadType !== 'message') return false;
    const start = frame.bytes().toString('latin1', head.end, head.end + 256);
    const role = ROLE.exec(start);
    if (role?.[1] !== 'user' || !PLAIN_PROMPT.test(start.slice(role[0].length))) return false;
    return isClosed(frame.bytes()) && !frame.includes(KINDS);
  }

  #seenPrompt(ordinal: number): void {
    this.#seenMessage();
    this.#prompts.typed(ordinal);
  }

  #seenMessage(): void {
    if (this.#hasMessages) return;
    this.#hasMessages = true;
    this.#mirrored = null;
    // Mirrors were told as messages, which they no longer are.
    if (this.#resume?.toldMirrors) throw new ReadWholeSource();
  }

  /** Whether a line has to be parsed. Messages of other roles than user are only noted. */
  #matters(head: LineHead, bytes: Buffer): boolean {
    const { type, payloadType } = head;
    switch (type) {
      case 'response_item': {
        if (payloadType !== 'message') return payloadType === null;
        const role = ROLE.exec(bytes.toString('latin1', head.end, head.end + 160))?.[1];
        if (role === undefined || role === 'user') return true;
        if (!this.#hasMessages && isClosed(bytes)) this.#seenMessage();
        return false;
      }
      case 'event_msg':
        return (
          payloadType === null ||
          payloadType === 'thread_rolled_back' ||
          (this.#mirrored !== null && MIRROR_EVENTS.has(payloadType))
        );
      case 'token_usage_record':
        return this.#firstRecord === null && !this.#resume?.hasRecords;
      default:
        return type === 'inter_agent_communication';
    }
  }

  #line(line: RolloutLine, ordinal: number): void {
    if (line.ordinal !== null) this.#lastOrdinal = line.ordinal;
    const { payload, payloadType } = line;
    if (line.type === 'token_usage_record') this.#record(payload, ordinal);
    // A message from another agent begins a turn, as a prompt does.
    else if (line.type === 'inter_agent_communication') this.#bothLogs((log) => log.typed(ordinal));
    else if (line.type === 'response_item' && payloadType === 'message') {
      this.#seenMessage();
      if (stringField(payload, 'role') === 'user' && isTypedMessage(payload)) this.#prompts.typed(ordinal);
    } else if (line.type === 'event_msg') this.#event(payloadType, payload, ordinal);
  }

  #event(type: string | null, payload: Json, ordinal: number): void {
    if (type === 'thread_rolled_back') {
      const turns = countField(payload, 'num_turns') ?? 0;
      this.#bothLogs((log) => log.rollBack(turns, ordinal));
    } else if (type !== null && this.#mirrored !== null && isTypedMirror(type, payload)) this.#mirrored.typed(ordinal);
  }

  #bothLogs(tell: (log: RollbackLog) => void): void {
    tell(this.#prompts);
    if (this.#mirrored !== null) tell(this.#mirrored);
  }

  #record(payload: Json, ordinal: number): void {
    if (this.#firstRecord !== null || this.#resume?.hasRecords) return;
    const thread = nameField(payload, 'thread_id');
    if (thread !== null && thread !== this.#threadId()) return;
    // One of the replies told before may be this record's, and would have to be taken back.
    if (this.#resume?.toldCounts) throw new ReadWholeSource();
    this.#firstRecord = { ordinal, usage: readVector(field(payload, 'usage')) };
  }

  #threadId(): string {
    return this.#readHeader()?.id ?? threadIdOfName(this.#source.name);
  }

  #readHeader(): Header | null {
    if (this.#header === null && this.#first !== null) {
      const line = readLine(JSON.parse(this.#first.toString('utf8')));
      if (typeof line !== 'string') this.#header = readHeader(line.payload, threadIdOfName(this.#source.name));
    }
    return this.#header;
  }

  finish(): { outline: RolloutOutline; links?: Links } {
    const outline: RolloutOutline = {
      inactive: (this.#mirrored ?? this.#prompts).spans,
      activePrompts: (this.#mirrored ?? this.#prompts).active,
      hasMessages: this.#hasMessages,
      firstRecord: this.#firstRecord,
      lastOrdinal: this.#lastOrdinal,
    };
    const header = this.#secondId === null ? null : this.#readHeader();
    if (header === null) return { outline };
    const { historyStart } = header;
    const bounded = historyStart !== null && this.#lastOrdinal !== null && historyStart <= this.#lastOrdinal;
    return { outline, links: links(header, this.#secondId, bounded && this.#secondHasOrdinal) };
  }
}

/** Reads the outline of a rollout, or of the part of it that follows a saved state. */
export function readOutline(
  frames: Iterable<Frame>,
  source: SourceSpec,
  resume: unknown,
): { outline: RolloutOutline; links?: Links } {
  const reader = new OutlineReader(source, stateOf(resume));
  for (const frame of frames) reader.frame(frame);
  return reader.finish();
}

/** Decodes a rollout: one thread, or a part of it, as append-only lines. */

import type { Frame } from '../../framing/frame.ts';
import { type DecodeContext, type Decoder, type Emitter, type EventAt, ReadWholeSource } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { field, type Json, nameField, objectField, stringField } from './guards.ts';
import { isClosed, type LineHead, readHead } from './head.ts';
import { type Header, readHeader, threadIdOfName } from './header.ts';
import { Inheritance, inheritanceRule, type Standing, startInheritance } from './inherited.ts';
import { lowestCut } from './keys.ts';
import { type BadLine, type RolloutLine, readLine } from './line.ts';
import {
  environmentCwd,
  type MessageState,
  messageItem,
  mirroredMessage,
  reasoningEvent,
  reasoningItem,
} from './messages.ts';
import type { RolloutOutline } from './outline.ts';
import { type Interest, mayPass, mayPassInRegion, passedName } from './pass.ts';
import { toolResult } from './results.ts';
import { SpanCursor } from './rollback.ts';
import { resumeCommand, sessionFields } from './session.ts';
import { type RolloutState, stateOf, stateVersion } from './state.ts';
import { toolCall } from './tools.ts';
import { IGNORED, ITEM_TABLES, MIRROR_EVENTS } from './types.ts';
import { type CountMemory, countTokens, observation, readVector, sameVector, type Vector } from './usage.ts';

/** What differs between Codex and the products that write the same rollouts. */
export interface RolloutProduct {
  /** Name of its command line program. */
  readonly command: string;
  /** Whether readable reasoning stands only in events, beside an encrypted item. */
  readonly reasoningInEvents: boolean;
}

const EMPTY_OUTLINE: RolloutOutline = {
  inactive: [],
  activePrompts: 0,
  hasMessages: false,
  firstRecord: null,
  lastOrdinal: null,
};

const BAD_LINES: Readonly<Record<BadLine, string>> = {
  not_an_object: 'The line is JSON, but no object.',
  no_payload: 'The line has no payload object.',
};

/** A line being told: what it is to its file, and where it stands. */
interface Told {
  readonly line: RolloutLine;
  readonly frame: Frame;
  readonly standing: Standing;
}

class RolloutDecoder implements Decoder {
  readonly #context: DecodeContext<RolloutOutline>;
  readonly #out: Emitter;
  readonly #product: RolloutProduct;
  readonly #outline: RolloutOutline;
  readonly #nameId: string;
  readonly #inactive: SpanCursor;
  readonly #cut: number | null;
  readonly #interest: Interest;

  #lines = 0;
  #header: Header | null = null;
  #hasHeader = false;
  #secondId: string | null = null;
  #secondHasOrdinal = false;
  #inheritance: Inheritance | null = null;
  #ownModel: string | null = null;
  #inheritedModel: string | null = null;
  #serviceTier: string | null = null;
  #counts: CountMemory = { total: null, last: null };
  #toldCounts = false;
  #hasRecords = false;
  /** Whether the reply of the first usage record was met among the `token_count` lines before it. */
  #handedOver = false;
  #hasMessages: boolean;
  #toldMirrors = false;
  #greatestOrdinal = -1;
  /** Native id of the line being told; null where only its place names it. */
  #nativeId: string | null = null;
  #threadName: string | null = null;
  #bareCwd: string | null = null;
  #blankReasoning = false;

  constructor(context: DecodeContext<RolloutOutline>, out: Emitter, product: RolloutProduct) {
    this.#context = context;
    this.#out = out;
    this.#product = product;
    this.#outline = context.outline ?? EMPTY_OUTLINE;
    this.#nameId = threadIdOfName(context.source.name);
    this.#inactive = new SpanCursor(this.#outline.inactive);
    this.#cut = lowestCut(context.copies);
    this.#hasMessages = this.#outline.hasMessages;
    // A session's counts and times are made of its rows.
    const { messages, tool_calls, tool_results, sessions } = out.wants;
    const wants = {
      messages: messages || sessions,
      tool_calls: tool_calls || sessions,
      tool_results: tool_results || sessions,
    };
    this.#interest = { wants, reasoningInEvents: product.reasoningInEvents };
    const state = stateOf(context.resume);
    if (state !== null) this.#goOn(state);
  }

  #goOn(state: RolloutState): void {
    this.#lines = state.lines;
    this.#header = state.header;
    this.#hasHeader = state.hasHeader;
    this.#secondId = state.secondId;
    this.#secondHasOrdinal = state.secondHasOrdinal;
    this.#ownModel = state.ownModel;
    this.#inheritedModel = state.inheritedModel;
    this.#serviceTier = state.serviceTier;
    this.#counts = { ...state.counts };
    this.#toldCounts = state.toldCounts;
    this.#hasRecords = state.hasRecords;
    this.#hasMessages ||= state.hasMessages;
    this.#toldMirrors = state.toldMirrors;
    this.#greatestOrdinal = state.greatestOrdinal;
    this.#threadName = state.threadName;
    this.#bareCwd = state.bareCwd;
    this.#blankReasoning = state.blankReasoning;
    // Another file of the thread, or the parent's, has come or gone: lines already told may stand differently.
    if (state.cut !== this.#cut) throw new ReadWholeSource();
    if (state.inheritance === null) return;
    const { rule } = state.inheritance;
    if (rule !== 'base' && rule !== this.#rule(state.header ?? this.#headerOfName())) throw new ReadWholeSource();
    this.#inheritance = this.#inherit({ ...state.inheritance });
  }

  #headerOfName(): Header {
    return readHeader({}, this.#nameId);
  }

  #rule(header: Header): ReturnType<typeof inheritanceRule> {
    return inheritanceRule({
      header,
      secondId: this.#secondId,
      lastOrdinal: this.#outline.lastOrdinal,
      foundParent: this.#context.foundRelated,
      parentKeys: this.#context.copies,
    });
  }

  #inherit(state: ReturnType<typeof startInheritance>): Inheritance {
    return new Inheritance(state, this.#header ?? this.#headerOfName(), this.#context.copies);
  }

  frame(frame: Frame): void {
    const bytes = frame.bytes();
    const head = readHead(bytes);
    if (head !== null && this.#mayPass(head) && isClosed(bytes)) {
      this.#pass(head);
      return;
    }
    const line = readLine(frame.json());
    if (typeof line === 'string') {
      this.#out.badRecord(frame.position(), line, BAD_LINES[line]);
      return;
    }
    if (this.#lines < 2 && this.#isHeader(line)) return;
    const standing = this.#inheritance?.place(line) ?? 'own';
    this.#nameLine(line.ordinal);
    this.#tell({ line, frame, standing });
  }

  /** Takes in the first two lines; true where the line was the header itself. */
  #isHeader(line: RolloutLine): boolean {
    if (this.#lines === 0 && line.type === 'session_meta') {
      this.#header = readHeader(line.payload, this.#nameId);
      this.#hasHeader = true;
      this.#lines = 1;
      this.#nameLine(line.ordinal);
      return true;
    }
    // A file without a header is known by its name; nothing says that it repeats another one.
    this.#header ??= this.#headerOfName();
    if (this.#hasHeader && line.type === 'session_meta') {
      this.#secondId = nameField(line.payload, 'id');
      this.#secondHasOrdinal = line.ordinal !== null;
    }
    const rule = this.#rule(this.#header);
    this.#inheritance = this.#inherit(startInheritance(rule));
    this.#lines = 2;
    if (rule === 'orphan') {
      const message =
        'The fork opens with a copy of its parent, whose rollout is missing: copied lines are kept as own.';
      this.#out.issue('warning', 'parent_missing', message);
    }
    return false;
  }

  #mayPass(head: LineHead): boolean {
    if (this.#lines < 2) return false;
    return this.#inheritance?.needsEveryLine
      ? mayPassInRegion(head)
      : mayPass(head, this.#interest, !this.#hasMessages);
  }

  #pass(head: LineHead): void {
    this.#inheritance?.pass(head.ordinal);
    this.#nameLine(head.ordinal);
    const isMirror = head.type === 'event_msg' && MIRROR_EVENTS.has(head.payloadType ?? '');
    if (isMirror && !this.#hasMessages) {
      this.#toldMirrors = true;
      return;
    }
    const name = passedName(head);
    if (name !== null) this.#out.ignored(name);
  }

  /**
   * Ordinals of a paginated rollout name its lines even after a vacuum has removed some of them. They are trusted as
   * long as they rise, which makes each the only one; all other lines are named by their place.
   */
  #nameLine(ordinal: number | null): void {
    const isNew = ordinal !== null && ordinal > this.#greatestOrdinal;
    this.#nativeId = isNew ? `${this.#context.source.name}#${ordinal}` : null;
    if (isNew) this.#greatestOrdinal = ordinal;
  }

  #tell(told: Told): void {
    const { line } = told;
    switch (line.type) {
      case 'session_meta':
        this.#lateHeader(line.payload);
        break;
      case 'turn_context':
        this.#model(line.payload, told.standing);
        this.#out.ignored(line.name);
        break;
      case 'response_item':
        this.#item(told);
        break;
      case 'event_msg':
        this.#event(told);
        break;
      case 'token_usage_record':
        this.#record(told);
        break;
      default:
        this.#uncounted(line);
    }
  }

  #uncounted(line: RolloutLine): void {
    if (IGNORED.has(line.name)) this.#out.ignored(line.name);
    else this.#out.unknown(line.name);
  }

  /** A header after a damaged first line still says where the thread ran, if it is the thread's own. */
  #lateHeader(payload: Json): void {
    if (this.#hasHeader || nameField(payload, 'id') !== this.#nameId) return;
    this.#header = readHeader(payload, this.#nameId);
    this.#hasHeader = true;
  }

  #model(settings: Json, standing: Standing): void {
    const model = nameField(settings, 'model');
    if (model === null) return;
    if (standing === 'copy') this.#inheritedModel = model;
    else this.#ownModel = model;
  }

  #at({ line, frame }: Told, slot: string): EventAt {
    return {
      sessionId: this.#header?.id ?? this.#nameId,
      nativeId: this.#nativeId,
      slot,
      position: frame.position(),
      timestamp: parseIsoTime(line.timestampText),
      timestampText: line.timestampText,
    };
  }

  #messageState({ line, frame, standing }: Told): MessageState {
    const isCopy = standing === 'copy';
    const isCut = this.#cut !== null && (line.ordinal ?? frame.ordinal) >= this.#cut;
    return {
      isCopy,
      isActive: !isCut && !this.#inactive.holds(frame.ordinal),
      model: isCopy ? this.#inheritedModel : this.#ownModel,
    };
  }

  #item(told: Told): void {
    const { line, standing } = told;
    const { payload } = line;
    const type = line.payloadType ?? '';
    this.#blankReasoning = false;
    const table = ITEM_TABLES.get(type);
    if (table === undefined) this.#uncounted(line);
    else if (type === 'message') this.#message(told);
    else if (type === 'reasoning') {
      const fields = reasoningItem(payload, this.#messageState(told));
      this.#blankReasoning = fields === null;
      if (fields !== null) this.#out.message(this.#at(told, 'message'), fields);
    } else if (table === 'tool_calls') {
      const call = toolCall(type, payload, standing === 'copy');
      if (call !== null) this.#out.toolCall(this.#at(told, 'call'), call);
    } else {
      const result = toolResult(type, payload, standing === 'copy');
      if (result !== null) this.#out.toolResult(this.#at(told, 'result'), result);
    }
  }

  #message(told: Told): void {
    const { line, frame } = told;
    if (line.bare && stringField(line.payload, 'role') === 'user') this.#bareCwd ??= environmentCwd(line.payload);
    const fields = messageItem(line.payload, this.#messageState(told));
    if (fields !== null) this.#out.message(this.#at(told, 'message'), fields);
    else this.#out.badRecord(frame.position(), 'no_role', 'The message has no role that is known.');
  }

  #event(told: Told): void {
    const { line, standing } = told;
    const { payload } = line;
    const type = line.payloadType ?? '';
    if (type === 'token_count') return this.#tokenCount(told);
    if (MIRROR_EVENTS.has(type)) return this.#mirror(told);
    if (type === 'thread_settings_applied') {
      const settings = objectField(payload, 'thread_settings');
      if (settings !== null) this.#model(settings, standing);
      if (settings !== null && standing !== 'copy' && Object.hasOwn(settings, 'service_tier'))
        this.#serviceTier = nameField(settings, 'service_tier');
    } else if (type === 'thread_name_updated' && standing !== 'copy') {
      const thread = nameField(payload, 'thread_id');
      if (thread === null || thread === this.#header?.id)
        this.#threadName = nameField(payload, 'thread_name') ?? this.#threadName;
    } else if (type === 'agent_reasoning_raw_content' && this.#product.reasoningInEvents && this.#blankReasoning) {
      const fields = reasoningEvent(payload, this.#messageState(told));
      if (fields === null) return this.#uncounted(line);
      return this.#out.message(this.#at(told, 'message'), fields);
    }
    this.#uncounted(line);
  }

  #mirror(told: Told): void {
    const { line } = told;
    const fields = this.#hasMessages
      ? null
      : mirroredMessage(line.payloadType ?? '', line.payload, this.#messageState(told));
    if (fields === null) return this.#out.ignored(line.name);
    this.#toldMirrors = true;
    this.#out.message(this.#at(told, 'message'), fields);
  }

  /** Whether usage records have begun at or before this line. */
  #recordsBegan(frame: Frame): boolean {
    const first = this.#outline.firstRecord;
    this.#hasRecords ||= first !== null && frame.ordinal >= first.ordinal;
    return this.#hasRecords;
  }

  #tokenCount(told: Told): void {
    const counted = countTokens(this.#counts, told.line.payload);
    if (counted === null || told.standing !== 'own' || this.#recordsBegan(told.frame)) return;
    const first = this.#outline.firstRecord;
    if (
      first !== null &&
      !this.#handedOver &&
      counted.basis === 'last_sample' &&
      sameVector(counted.vector, first.usage)
    ) {
      this.#handedOver = true; // the record tells this reply
      return;
    }
    this.#toldCounts = true;
    this.#usage(told, counted.vector, null, counted.basis);
  }

  #record(told: Told): void {
    const { payload } = told.line;
    this.#recordsBegan(told.frame);
    const thread = nameField(payload, 'thread_id');
    if (told.standing !== 'own' || (thread !== null && thread !== this.#header?.id)) return;
    const vector = readVector(field(payload, 'usage'));
    if (vector !== null) this.#usage(told, vector, nameField(payload, 'response_id'), 'native');
    else this.#out.badRecord(told.frame.position(), 'no_usage', 'The usage record has no counters.');
  }

  #usage(told: Told, vector: Vector, key: string | null, basis: 'native' | 'last_sample' | 'cumulative_delta'): void {
    if (!this.#out.wants.usage) return;
    const provider = this.#header?.provider ?? null;
    const origin = { key, basis, model: this.#ownModel, provider, serviceTier: this.#serviceTier };
    this.#out.usage(this.#at(told, 'usage'), observation(vector, origin));
  }

  finish(): void {
    const header = this.#header;
    if (header === null) return;
    const { source } = this.#context;
    const resume = resumeCommand(this.#product.command, header, source.hints['archived'] === true);
    const facts = { header, threadName: this.#threadName, bareCwd: this.#bareCwd };
    this.#out.session(sessionFields(source, facts, resume));
  }

  save(): RolloutState {
    return {
      version: stateVersion,
      lines: this.#lines,
      header: this.#header,
      hasHeader: this.#hasHeader,
      secondId: this.#secondId,
      secondHasOrdinal: this.#secondHasOrdinal,
      inheritance: this.#inheritance === null ? null : { ...this.#inheritance.state },
      ownModel: this.#ownModel,
      inheritedModel: this.#inheritedModel,
      serviceTier: this.#serviceTier,
      counts: { ...this.#counts },
      toldCounts: this.#toldCounts,
      hasRecords: this.#hasRecords || this.#outline.firstRecord !== null,
      hasMessages: this.#hasMessages,
      toldMirrors: this.#toldMirrors,
      activePrompts: this.#outline.activePrompts,
      lastOrdinal: this.#outline.lastOrdinal,
      greatestOrdinal: this.#greatestOrdinal,
      cut: this.#cut,
      threadName: this.#threadName,
      bareCwd: this.#bareCwd,
      blankReasoning: this.#blankReasoning,
    };
  }
}

/** Makes the decoder of a product's rollouts. Throws `ReadWholeSource` where a saved state no longer holds. */
export const rolloutDecoder =
  (product: RolloutProduct) =>
  (context: DecodeContext<RolloutOutline>, out: Emitter): Decoder =>
    new RolloutDecoder(context, out, product);

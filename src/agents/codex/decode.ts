/** Decodes a rollout: one thread, or a part of it, as append-only lines. */

import type { Frame } from '../../framing/frame.ts';
import { type DecodeContext, type Decoder, type Emitter, type EventAt, ReadWholeSource } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { type Json, nameField, objectField, stringField } from './guards.ts';
import { type LineHead, readHead, timestampText } from './head.ts';
import { type Header, isOwnHeader, readHeader, threadIdOfName } from './header.ts';
import { Inheritance, type InheritanceRule, inheritanceRule, type Standing, startInheritance } from './inherited.ts';
import { countLine, type Told, tellItem } from './items.ts';
import { lowestCut } from './keys.ts';
import { type BadLine, type RolloutLine, readLine } from './line.ts';
import { environmentCwd, type MessageState, mirroredMessage, reasoningEvent, reasoningText } from './messages.ts';
import { EMPTY_OUTLINE, type RolloutOutline } from './outline.ts';
import { type Interest, mayPass, mayPassInRegion, passedName } from './pass.ts';
import { SpanCursor } from './rollback.ts';
import { endsWhole, isClosed, memberValue, plainString, scanTokenCount } from './scan.ts';
import { resumeCommand, sessionFields } from './session.ts';
import { type RolloutState, startState, stateOf } from './state.ts';
import { MIRROR_EVENTS } from './types.ts';
import { UsageLedger, type UsageLine } from './usage-ledger.ts';

/** What differs between Codex and the products that write the same rollouts. */
export interface RolloutProduct {
  /** Name of its command line program. */
  readonly command: string;
  /** Whether readable reasoning stands only in events, beside an encrypted item. */
  readonly reasoningInEvents: boolean;
}

const BAD_LINES: Readonly<Record<BadLine, string>> = {
  not_an_object: 'The line is JSON, but no object.',
  no_payload: 'The line has no payload object.',
};

/** Any line as it is told. */
interface ToldLine extends Told, UsageLine {
  readonly line: RolloutLine;
}

const MODEL = Buffer.from('model');

class RolloutDecoder implements Decoder {
  readonly #context: DecodeContext<RolloutOutline>;
  readonly #out: Emitter;
  readonly #product: RolloutProduct;
  readonly #outline: RolloutOutline;
  readonly #nameId: string;
  readonly #inactive: SpanCursor;
  readonly #interest: Interest;
  readonly #isWhole: (bytes: Buffer) => boolean;
  readonly #state: RolloutState;
  readonly #isLean: boolean;
  readonly #ledger: UsageLedger;
  #inheritance: Inheritance | null = null;
  /** Native id of the line being told; null where only its place names it. */
  #nativeId: string | null = null;

  /** `isLean`: for totals, in one pass, without an outline; throws `ReadWholeSource` where that will not do. */
  constructor(context: DecodeContext<RolloutOutline>, out: Emitter, product: RolloutProduct, isLean = false) {
    this.#isLean = isLean;
    this.#context = context;
    this.#out = out;
    this.#product = product;
    this.#outline = context.outline ?? EMPTY_OUTLINE;
    this.#nameId = threadIdOfName(context.source.name);
    this.#inactive = new SpanCursor(this.#outline.inactive);
    // A session's counts and times are made of its rows.
    const { messages, tool_calls, tool_results, sessions } = out.wants;
    const wants = {
      messages: messages || sessions,
      tool_calls: tool_calls || sessions,
      tool_results: tool_results || sessions,
    };
    this.#interest = { wants, reasoningInEvents: product.reasoningInEvents };
    // Where usage is all that is asked for, nearly all lines are passed, and looking through each would cost the most.
    this.#isWhole = Object.values(wants).includes(true) ? isClosed : endsWhole;
    const cut = lowestCut(context.copies);
    const resumed = stateOf(context.resume);
    this.#state = resumed ?? { ...startState(), cut };
    this.#state.hasMessages ||= this.#outline.hasMessages;
    this.#ledger = new UsageLedger({
      out,
      state: this.#state,
      firstRecord: this.#outline.firstRecord,
      isLean,
      header: () => this.#header(),
    });
    if (resumed !== null) this.#checkKin(resumed, cut);
  }

  /** Another file of the thread, or the parent's, may have come or gone: lines already told would stand differently. */
  #checkKin(state: RolloutState, cut: number | null): void {
    if (state.cut !== cut) throw new ReadWholeSource();
    if (state.inheritance === null) return;
    if (state.inheritance.rule !== this.#rule()) throw new ReadWholeSource();
    this.#inheritance = new Inheritance(state.inheritance, this.#header(), this.#context.copies);
  }

  #header(): Header {
    return this.#state.header ?? readHeader({}, this.#nameId);
  }

  #rule(): InheritanceRule {
    return inheritanceRule({
      header: this.#header(),
      secondId: this.#state.secondId,
      lastOrdinal: this.#outline.lastOrdinal,
      foundParent: this.#context.foundRelated,
      parentKeys: this.#context.copies,
    });
  }

  frame(frame: Frame): void {
    const bytes = frame.bytes();
    const head = readHead(bytes);
    if (head !== null && this.#mayPass(head) && this.#isWhole(bytes)) {
      this.#pass(head);
      return;
    }
    if (head !== null && this.#state.lines === 2 && this.#scan(frame, bytes, head)) return;
    const line = readLine(frame.json());
    if (typeof line === 'string') {
      this.#out.badRecord(frame.position(), line, BAD_LINES[line]);
      return;
    }
    this.#nameLine(line.ordinal);
    if (this.#state.lines < 2 && this.#opening(line, frame.ordinal) === 'header') return;
    const standing = this.#inheritance?.place(line) ?? 'own';
    const at = (slot: string): EventAt => this.#at(line.timestampText, frame, slot);
    this.#tell({ line, frame, standing, at, state: () => this.#messageState(line, frame, standing) });
  }

  /** Takes in the first two lines, which say what the file is. */
  #opening(line: RolloutLine, ordinal: number): 'header' | 'line' {
    const state = this.#state;
    const isHeader = line.type === 'session_meta' && isOwnHeader(line.payload, ordinal, this.#nameId);
    if (state.lines === 0 && isHeader) {
      state.header = readHeader(line.payload, this.#nameId);
      state.hasHeader = true;
      state.lines = 1;
      return 'header';
    }
    // A file without a header is known by its name; nothing says that it repeats another one.
    state.header ??= this.#header();
    if (state.hasHeader && line.type === 'session_meta') {
      state.secondId = nameField(line.payload, 'id');
      state.secondHasOrdinal = line.ordinal !== null;
    }
    // By ordinals, copies end at one that only the end of the file shows to be there; by payloads, any line may end them.
    if (this.#isLean && state.header.historyStart !== null && state.secondId !== null) throw new ReadWholeSource();
    const rule = this.#rule();
    if (this.#isLean && (rule === 'payloads' || rule === 'orphan')) throw new ReadWholeSource();
    state.inheritance = startInheritance(rule);
    this.#inheritance = new Inheritance(state.inheritance, state.header, this.#context.copies);
    state.lines = 2;
    if (rule === 'orphan') {
      const message =
        'The fork opens with a copy of its parent, whose rollout is missing: copied lines are kept as own.';
      this.#out.issue('warning', 'parent_missing', message);
    }
    return 'line';
  }

  #mayPass(head: LineHead): boolean {
    const { lines, hasMessages } = this.#state;
    if (lines < 2) return false;
    return this.#inheritance?.needsEveryLine ? mayPassInRegion(head) : mayPass(head, this.#interest, !hasMessages);
  }

  #pass(head: LineHead): void {
    if (this.#inheritance !== null) this.#skipTo(head, this.#inheritance);
    const isMirror = head.type === 'event_msg' && MIRROR_EVENTS.has(head.payloadType ?? '');
    if (isMirror && !this.#state.hasMessages) {
      this.#state.toldMirrors = true;
      return;
    }
    const name = passedName(head);
    if (name !== null) this.#out.ignored(name);
  }

  /** Takes what counts of the two types that are most of the usage path; false where the line has to be parsed. */
  #scan(frame: Frame, bytes: Buffer, head: LineHead): boolean {
    const inheritance = this.#inheritance;
    if (inheritance === null || inheritance.needsEveryLine) return false;
    if (head.type === 'turn_context' && !inheritance.awaitsTurn) {
      const model = plainString(bytes, memberValue(bytes, head.end, MODEL));
      if (model === null || !isClosed(bytes)) return false;
      this.#skipTo(head, inheritance);
      this.#useModel({ model }, inheritance.standing);
      this.#out.ignored(head.type);
      return true;
    }
    if (head.payloadType !== 'token_count' || head.type !== 'event_msg') return false;
    const count = scanTokenCount(bytes, head.end);
    if (count === undefined || !isClosed(bytes)) return false;
    this.#skipTo(head, inheritance);
    const at = (slot: string): EventAt => this.#at(timestampText(bytes, head), frame, slot);
    this.#ledger.tokenCount(count, { frame, standing: inheritance.standing, at });
    return true;
  }

  #skipTo(head: LineHead, inheritance: Inheritance): void {
    inheritance.pass(head.ordinal);
    this.#nameLine(head.ordinal);
  }

  /**
   * Ordinals of a paginated rollout name its lines even after a vacuum has removed some of them. They are trusted as
   * long as they rise, which makes each the only one; all other lines are named by their place. Item and call ids are
   * not: some providers hand out the same few again in every turn.
   */
  #nameLine(ordinal: number | null): void {
    const isNew = ordinal !== null && ordinal > this.#state.greatestOrdinal;
    this.#nativeId = isNew ? `${this.#context.source.name}#${ordinal}` : null;
    if (isNew) this.#state.greatestOrdinal = ordinal;
  }

  #tell(told: ToldLine): void {
    const { line } = told;
    switch (line.type) {
      case 'session_meta':
        this.#lateHeader(line.payload);
        break;
      case 'turn_context':
        this.#useModel(line.payload, told.standing);
        this.#out.ignored(line.name);
        break;
      case 'response_item':
        this.#item(told);
        break;
      case 'event_msg':
        this.#event(told);
        break;
      case 'token_usage_record':
        this.#ledger.record(line.payload, told);
        break;
      default:
        countLine(line, this.#out);
    }
  }

  /** A header after a damaged first line still says where the thread ran, if it is the thread's own. */
  #lateHeader(payload: Json): void {
    if (this.#state.hasHeader || nameField(payload, 'id') !== this.#nameId) return;
    this.#state.header = readHeader(payload, this.#nameId);
    this.#state.hasHeader = true;
  }

  #useModel(settings: Json, standing: Standing): void {
    const model = nameField(settings, 'model');
    if (model === null) return;
    if (standing === 'copy') this.#state.inheritedModel = model;
    else this.#state.ownModel = model;
  }

  #at(timestampText: string | null, frame: Frame, slot: string): EventAt {
    return {
      sessionId: this.#header().id,
      nativeId: this.#nativeId,
      slot,
      position: frame.position(),
      timestamp: parseIsoTime(timestampText),
      timestampText,
    };
  }

  #messageState(line: RolloutLine, frame: Frame, standing: Standing): MessageState {
    const { cut, inheritedModel, ownModel } = this.#state;
    const isCopy = standing === 'copy';
    const isCut = cut !== null && (line.ordinal ?? frame.ordinal) >= cut;
    const isActive = !isCut && !this.#inactive.holds(frame.ordinal);
    return { isCopy, isActive, model: isCopy ? inheritedModel : ownModel };
  }

  #item(told: ToldLine): void {
    const { line } = told;
    const { payload, payloadType } = line;
    if (line.bare && payloadType === 'message' && stringField(payload, 'role') === 'user')
      this.#state.bareCwd ??= environmentCwd(payload);
    if (this.#product.reasoningInEvents)
      this.#state.blankReasoning = payloadType === 'reasoning' && reasoningText(payload) === '';
    tellItem(line, told, this.#out);
  }

  #event(told: ToldLine): void {
    const { line } = told;
    const type = line.payloadType ?? '';
    if (type === 'token_count') this.#ledger.parsedTokenCount(line.payload, told);
    else if (MIRROR_EVENTS.has(type)) this.#mirror(told);
    else if (type === 'agent_reasoning_raw_content') this.#rawReasoning(told);
    else {
      if (type === 'thread_settings_applied') this.#useSettings(line.payload, told.standing);
      else if (type === 'thread_name_updated') this.#useName(line.payload, told.standing);
      countLine(line, this.#out);
    }
  }

  #useSettings(payload: Json, standing: Standing): void {
    const settings = objectField(payload, 'thread_settings');
    if (settings === null) return;
    this.#useModel(settings, standing);
    if (standing !== 'copy' && Object.hasOwn(settings, 'service_tier'))
      this.#state.serviceTier = nameField(settings, 'service_tier');
  }

  #useName(payload: Json, standing: Standing): void {
    const thread = nameField(payload, 'thread_id');
    if (standing === 'copy' || (thread !== null && thread !== this.#header().id)) return;
    this.#state.threadName = nameField(payload, 'thread_name') ?? this.#state.threadName;
  }

  #mirror({ line, at, state }: ToldLine): void {
    const fields = this.#state.hasMessages ? null : mirroredMessage(line.payloadType ?? '', line.payload, state());
    if (fields === null) {
      this.#out.ignored(line.name);
      return;
    }
    this.#state.toldMirrors = true;
    this.#out.message(at('message'), fields);
  }

  /** Reasoning whose item is encrypted: the event holds the only readable text. */
  #rawReasoning({ line, at, state }: ToldLine): void {
    const isOnly = this.#product.reasoningInEvents && this.#state.blankReasoning;
    const fields = isOnly ? reasoningEvent(line.payload, state()) : null;
    if (fields === null) countLine(line, this.#out);
    else this.#out.message(at('message'), fields);
  }

  finish(): void {
    this.#ledger.finish();
    const { header, threadName, bareCwd } = this.#state;
    if (header === null) return;
    const { source } = this.#context;
    const resume = resumeCommand(this.#product.command, header, source.hints['archived'] === true);
    this.#out.session(sessionFields(source, { header, threadName, bareCwd }, resume));
  }

  save(): RolloutState {
    const { activePrompts, firstRecord, lastOrdinal } = this.#outline;
    const hasRecords = this.#state.hasRecords || firstRecord !== null;
    return structuredClone({ ...this.#state, activePrompts, lastOrdinal, hasRecords });
  }
}

/** The same for totals of usage: one pass, of the lines that `mayHoldUsage`. */
export const rolloutTotals =
  (product: RolloutProduct) =>
  (context: DecodeContext<RolloutOutline>, out: Emitter): Decoder =>
    new RolloutDecoder(context, out, product, true);

/** Makes the decoder of a product's rollouts. Throws `ReadWholeSource` where a saved state no longer holds. */
export const rolloutDecoder =
  (product: RolloutProduct) =>
  (context: DecodeContext<RolloutOutline>, out: Emitter): Decoder =>
    new RolloutDecoder(context, out, product);

/** One reply of the model, put together from the rows that hold its blocks. */
import { hash } from 'node:crypto';
import type { Position } from '../../framing/frame.ts';
import type { Emitter, EventAt, MessageFields } from '../agent.ts';
import { textOrNull } from './guards.ts';
import type { Place } from './queue.ts';
import { mergeSamples, toObservation, type UsageSample } from './usage.ts';

/** Where and when a row stands. */
export interface RowPlace {
  readonly position: Position;
  readonly timestamp: number | null;
  readonly timestampText: string | null;
}

/** A row as its reply sees it. */
export interface ReplyRow {
  readonly place: RowPlace;
  readonly uuid: string | null;
  readonly parentUuid: string | null;
  readonly model: string | null;
  readonly isSynthetic: boolean;
  readonly isError: boolean;
  readonly isSidechain: boolean;
  readonly isActive: boolean;
  readonly isCopy: boolean;
}

/** JSON-able. */
export interface ReplyState {
  /** The provider's id; null where the store has none. */
  readonly messageId: string | null;
  /** Native id of the reply's rows; null: source and position are. */
  readonly nativeId: string | null;
  /** What identifies the reply over all files; null as above. */
  readonly usageKey: string | null;
  /** `hash53` of the key under which the outline knows the reply. */
  readonly key: number;
  /** The first row. */
  row: ReplyRow | null;
  model: string | null;
  isCopy: boolean;
  isActive: boolean;
  readonly texts: string[];
  readonly thinking: string[];
  readonly kinds: string[];
  /** Slots of calls and results that have an id. */
  readonly tools: string[];
  /** Calls and results without an id. */
  namelessTools: number;
  usage: { readonly place: RowPlace; readonly sample: UsageSample; readonly isCopy: boolean } | null;
  /** Whether the reply's uncounted usage was reported. */
  reportedUncounted: boolean;
}

export const newReply = (ids: Pick<ReplyState, 'messageId' | 'nativeId' | 'usageKey' | 'key'>): ReplyState => ({
  ...ids,
  row: null,
  model: null,
  isCopy: true,
  isActive: false,
  texts: [],
  thinking: [],
  kinds: [],
  tools: [],
  namelessTools: 0,
  usage: null,
  reportedUncounted: false,
});

/** Texts up to this length are compared as they are: V8 hashes very long strings by their length alone. */
const SHORT_TEXT = 256;
const digest = (text: string): string => (text.length <= SHORT_TEXT ? text : hash('sha1', text, 'base64'));
/** Up to so many texts are simply looked through. */
const FEW = 16;

export class Reply implements Place {
  isOpen = true;
  readonly state: ReplyState;
  /** Ordinal of the last row, where the rows of other replies stand between; -1 = the next reply ends this one. */
  readonly lastRow: number;
  private readonly sessionId: string;
  private readonly tools: Set<string>;
  private readonly digests = { texts: new Set<string>(), thinking: new Set<string>() };

  constructor(state: ReplyState, sessionId: string, lastRow: number) {
    this.state = state;
    this.sessionId = sessionId;
    this.lastRow = lastRow;
    this.tools = new Set(state.tools);
  }

  addRow(row: ReplyRow): void {
    const { state } = this;
    state.row ??= row;
    state.model ??= row.model;
    // A reply is a copy if all its rows are, and live if one of them is.
    state.isCopy &&= row.isCopy;
    state.isActive ||= row.isActive;
  }

  addUsage(sample: UsageSample, place: RowPlace, isCopy: boolean): void {
    const known = this.state.usage;
    this.state.usage =
      known === null
        ? { place, sample, isCopy }
        : { place: known.place, sample: mergeSamples(known.sample, sample), isCopy: known.isCopy && isCopy };
  }

  addKind(kind: string): void {
    if (kind !== '' && !this.state.kinds.includes(kind)) this.state.kinds.push(kind);
  }

  /** Adds a block's text; a block that an earlier row brought already is dropped. */
  addText(column: 'texts' | 'thinking', text: string): void {
    const list = this.state[column];
    if (text === '' || this.holds(column, text)) return;
    list.push(text);
    if (this.digests[column].size > 0) this.digests[column].add(digest(text));
  }

  /** Slot of a call or result; null where an earlier row brought it already. */
  slotOf(kind: 'call' | 'result', id: string | null): string | null {
    if (id === null) return `${kind}:#${this.state.namelessTools++}`;
    const slot = `${kind}:${id}`;
    if (this.tools.has(slot)) return null;
    this.tools.add(slot);
    this.state.tools.push(slot);
    return slot;
  }

  /** Id of an event of this reply in the row at `place`. */
  at(slot: string, place: RowPlace): EventAt {
    return { sessionId: this.sessionId, nativeId: this.state.nativeId, slot, ...place };
  }

  tell(out: Emitter): void {
    const { row, usage } = this.state;
    // Sessions count their messages.
    if (row !== null && (out.wants.messages || out.wants.sessions)) this.tellMessage(out, row);
    if (usage !== null) {
      const { messageId, usageKey } = this.state;
      out.usage(this.at('usage', usage.place), toObservation(usage.sample, messageId, usageKey, usage.isCopy));
    }
  }

  private tellMessage(out: Emitter, row: ReplyRow): void {
    const { state } = this;
    const text = textOrNull(state.texts.join('\n'));
    const thinking = textOrNull(state.thinking.join('\n'));
    if (text === null && thinking === null) return;
    const fields: MessageFields = {
      is_copy: state.isCopy,
      message_id: state.messageId,
      record_id: row.uuid,
      parent_record_id: row.parentUuid,
      role: 'assistant',
      author: null,
      kind: kindOf(row),
      model: row.isSynthetic ? null : state.model,
      text,
      thinking,
      is_meta: row.isSynthetic,
      is_active: state.isActive,
      content_kinds: state.kinds,
    };
    out.message(this.at('message', row.place), fields);
  }

  private holds(column: 'texts' | 'thinking', text: string): boolean {
    const list = this.state[column];
    const digests = this.digests[column];
    if (list.length <= FEW) return list.includes(text);
    if (digests.size === 0) for (const known of list) digests.add(digest(known));
    return digests.has(digest(text));
  }
}

const kindOf = (row: ReplyRow): string =>
  row.isError ? 'api_error' : row.isSynthetic ? 'synthetic' : row.isSidechain ? 'sidechain' : 'assistant';

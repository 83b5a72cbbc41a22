/** Assistant rows: which reply they belong to, when it is complete, and what it cost. */

import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import type { DecodeContext, Emitter } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { replyClaim } from './copies.ts';
import { OrdinalCursor } from './id-table.ts';
import { type FileFacts, factsOf } from './links.ts';
import { type ClaudeOutline, variantKey } from './outline.ts';
import { OutputQueue } from './queue.ts';
import { newReply, Reply, type ReplyState, type RowPlace } from './reply.ts';
import type { Row } from './row.ts';
import type { SavedEntry } from './state.ts';
import { hasUncountedUsage, readUsage, reportUsageFault, type Standing } from './usage.ts';

const NO_ROWS = new Int32Array(0);

export class ReplyReader {
  readonly facts: FileFacts;
  readonly queue: OutputQueue;
  private readonly duplicates: OrdinalCursor;
  /** Rows with duplicates that turned out to be damaged. */
  private readonly lost = new Set<number>();
  private readonly copiedTwins: OrdinalCursor;
  private readonly variants: OrdinalCursor;
  private readonly outline: ClaudeOutline | null;
  private readonly copies: ReadonlySet<number>;
  private readonly row: Row;
  private readonly out: Emitter;
  /** Replies that may get further rows, by the key under which the outline knows them. */
  private readonly open = new Map<number, Reply>();

  /** `row` is the one that the caller reads lines into. */
  constructor({ source, outline, copies }: DecodeContext<ClaudeOutline>, row: Row, out: Emitter) {
    this.facts = factsOf(source);
    this.queue = new OutputQueue(out);
    this.outline = outline;
    this.copies = copies;
    this.duplicates = new OrdinalCursor(outline?.duplicates ?? NO_ROWS);
    this.copiedTwins = new OrdinalCursor(outline?.copiedTwins ?? NO_ROWS);
    this.variants = new OrdinalCursor(outline?.variants ?? NO_ROWS);
    this.row = row;
    this.out = out;
  }

  /** Takes up what waited at the end of an earlier read. */
  restore(waiting: readonly SavedEntry[]): void {
    for (const entry of waiting) {
      if (entry.kind === 'reply') this.begin(entry.reply);
      else this.queue.push(entry, 0);
    }
  }

  /** Whether an earlier row of the file has the row's uuid: it is the same row. */
  isDuplicate(ordinal: number): boolean {
    if (!this.duplicates.has(ordinal)) return false;
    // The vendor may have written a row again because the first one was damaged: the outline does not see all damage.
    const original = this.outline?.originals[this.duplicates.index] ?? -1;
    return !this.lost.delete(original);
  }

  /** Notes that a row could not be read. */
  noteLost(ordinal: number): void {
    if (this.outline?.originals.includes(ordinal) === true) this.lost.add(ordinal);
  }

  /** Whether another file of the family owns the row. */
  isCopy(uuid: string | null): boolean {
    return this.copies.size > 0 && uuid !== null && this.copies.has(hash53(uuid));
  }

  /** Whether the row says itself that it was copied. Rows of an agent file carry their parent's session id. */
  looksCopied(): boolean {
    const { row, facts } = this;
    return facts.isAgent ? row.isObject('forkedFrom') : row.looksCopied(facts.sessionId);
  }

  /** Whether the row is a subagent's in its parent's file (1.0.x), or an aside. */
  isSidechain(): boolean {
    return !this.facts.isAgent && this.row.isTrue('isSidechain');
  }

  /** Time and place of the row. */
  place(frame: Frame): RowPlace {
    const timestampText = this.row.text('timestamp');
    return { position: frame.position(), timestamp: parseIsoTime(timestampText), timestampText };
  }

  /** The reply that an assistant row belongs to: an open one, or a new one, which ends the others. */
  replyOf(ordinal: number, uuid: string | null): Reply {
    const { row } = this;
    const messageId = row.id('message.id');
    const usageKey = messageId ?? uuid;
    const isVariant = this.variants.has(ordinal) && messageId !== null;
    const nativeId = isVariant ? variantKey(messageId, row.id('requestId') ?? '') : usageKey;
    const key = messageId === null || nativeId === null ? -1 - ordinal : hash53(nativeId);
    const known = this.open.get(key) ?? null;
    this.close(ordinal, known);
    return known ?? this.begin(newReply({ messageId, nativeId, usageKey, key }));
  }

  /** Adds what the row says of its reply's cost. */
  addUsage(reply: Reply, frame: Frame, place: RowPlace, uuid: string | null): void {
    reportUsageFault(this.row, this.out, frame);
    const isCopy = this.isCopy(uuid);
    const sample = readUsage(this.row, this.standing(isCopy, place.position.ordinal));
    if (sample === null) return;
    reply.addUsage(sample, place, isCopy);
    if (reply.state.reportedUncounted || !hasUncountedUsage(this.row)) return;
    reply.state.reportedUncounted = true;
    this.out.issue(
      'info',
      'usage_not_counted',
      'the reply records usage beyond its counters; it is not counted',
      place.position,
    );
  }

  closeAll(): void {
    this.close(Number.POSITIVE_INFINITY, null);
  }

  /** Ends the replies, but one, whose last row stands before the ordinal. */
  private close(ordinal: number, except: Reply | null): void {
    for (const [key, reply] of this.open) {
      if (reply === except || reply.lastRow >= ordinal) continue;
      reply.isOpen = false;
      this.open.delete(key);
    }
    this.queue.flush();
  }

  private begin(state: ReplyState): Reply {
    const reply = new Reply(state, this.facts.sessionId, this.outline?.lastRows.get(state.key) ?? -1);
    this.open.set(state.key, reply);
    this.queue.open(reply);
    return reply;
  }

  private standing(isCopy: boolean, ordinal: number): Standing {
    const { row, facts } = this;
    const isSide = facts.isAgent || row.isTrue('isSidechain');
    // A sidechain that replays a reply of another file does so under uuids of its own.
    const messageId = isSide && this.copies.size > 0 ? row.id('message.id') : null;
    const isReplay = messageId !== null && this.copies.has(replyClaim(messageId));
    const isTwin = this.copiedTwins.has(ordinal);
    return { isNative: !isCopy && !isReplay && !isTwin && !this.looksCopied(), tellsRequests: !isSide };
  }
}

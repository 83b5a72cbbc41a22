/**
 * Facts of a whole session file that its first rows need: which rows are off the live branch, which are written twice,
 * and where replies end whose rows are mixed with those of others. One pass without parsing; see `Row`.
 */

import type { Frame } from '../../framing/frame.ts';
import { hash53 } from '../../records/identity.ts';
import { type Links, ReadWholeSource, type SourceSpec } from '../agent.ts';
import { type Activity, FORKED, FORKED_TWIN, LEAF, MESSAGE, RESULT, RowTree, SIDECHAIN } from './branches.ts';
import { type FileFacts, factsOf, LinkCollector } from './links.ts';
import { ReplyLedger } from './replies.ts';
import { Row } from './row.ts';
import { BEFORE, NO_WINDOW, PENDING_SUMMARIES, ROOT, type Tail } from './tail.ts';

/** Ordinals are ascending. All lists are empty for nearly all files. */
export interface ClaudeOutline {
  /** Rows that would be messages, but are off the live branch. */
  readonly inactive: Int32Array;
  /** Rows whose uuid an earlier row of the file has. */
  readonly duplicates: Int32Array;
  /** The earlier row of each of them; -1 where it was read before. */
  readonly originals: Int32Array;
  /** Rows of which only a duplicate says that they are copied from another session. */
  readonly copiedTwins: Int32Array;
  /** Rows of a reply that shares its message id with an earlier reply, under another request id. */
  readonly variants: Int32Array;
  /** Key of a reply (`hash53`) -> ordinal of its last row, for replies into which rows of others are mixed. */
  readonly lastRows: ReadonlyMap<number, number>;
  /** The last `summary` row that is about a row of this file; -1 = none. */
  readonly summary: number;
  readonly tail: Tail;
}

/** Reads what is new of a file; `saved` is the tail of what was read before. Throws `ReadWholeSource`. */
export function outlineFrames(
  frames: Iterable<Frame>,
  source: SourceSpec,
  saved: Tail | null,
): { outline: ClaudeOutline; links: Links } {
  const builder = new OutlineBuilder(source, saved);
  const row = new Row('loose');
  for (const frame of frames) {
    // What cannot be read is reported by the decoder.
    if (row.read(frame.bytes())) builder.add(row, frame.ordinal);
  }
  return builder.finish(true);
}

/** Builds an outline row by row. */
export class OutlineBuilder {
  private readonly facts: FileFacts;
  private readonly links: LinkCollector;
  private readonly replies: ReplyLedger;
  private readonly tree: RowTree;
  private readonly saved: Tail | null;
  private readonly duplicates: number[] = [];
  private readonly originals: number[] = [];
  private readonly variants: number[] = [];
  private readonly summaries: { ordinal: number; leaf: number }[] = [];
  /** Row id that a rewind mark after the last row names; 0 = none. */
  private rewindTo = 0;
  /** Whether a mark that was read before is in force. */
  private wasRewound: boolean;

  constructor(source: SourceSpec, saved: Tail | null) {
    this.facts = factsOf(source);
    this.saved = saved;
    this.wasRewound = saved?.rewound ?? false;
    this.links = new LinkCollector(source, saved?.refs);
    this.replies = new ReplyLedger(saved);
    this.tree = new RowTree(saved, (key) => this.replies.numberOfSaved(key));
  }

  add(row: Row, ordinal: number): void {
    if (row.kind === 'other') this.addOther(row, ordinal);
    else this.addTranscript(row, ordinal);
  }

  private addTranscript(row: Row, ordinal: number): void {
    this.links.add(row);
    const isForked = row.isObject('forkedFrom');
    const id = row.idHash('uuid');
    if (id !== 0) {
      const known = this.tree.table.find(id);
      if (known !== -1) {
        this.addDuplicate(known, ordinal, isForked);
        return;
      }
    }
    let flags = flagsOf(row) | (isForked ? FORKED : 0);
    if (this.facts.isAgent) flags |= SIDECHAIN;
    if ((flags & (LEAF | SIDECHAIN)) === LEAF) {
      // A row after a mark takes it away: it says itself what it follows.
      this.rewindTo = 0;
      this.wasRewound = false;
    }
    const reply = row.kind === 'assistant' ? this.addReply(row, ordinal, (flags & SIDECHAIN) !== 0) : -1;
    if (id !== 0) this.tree.add(id, ordinal, this.parentOf(row), flags, reply);
  }

  private addOther(row: Row, ordinal: number): void {
    if (row.equals('type', 'last-prompt')) {
      if (!row.isTrue('explicit')) return;
      if (this.wasRewound) throw new ReadWholeSource();
      this.rewindTo = row.idHash('leafUuid');
    } else if (row.equals('type', 'summary')) this.summaries.push({ ordinal, leaf: row.idHash('leafUuid') });
  }

  /** `withWindow`: the tail is to be gone on from; else it holds no rows. */
  finish(withWindow: boolean): { outline: ClaudeOutline; links: Links } {
    const { tree } = this;
    const rewoundTo = this.rewindTo === 0 ? -1 : tree.table.find(this.rewindTo);
    if (this.rewindTo !== 0 && this.saved !== null) throw new ReadWholeSource();
    const activity = tree.resolve(rewoundTo === -1 ? tree.leaf : rewoundTo, this.replies.size);
    const links = this.links.links();
    const outline: ClaudeOutline = {
      inactive: inactiveRows(tree, activity),
      duplicates: Int32Array.from(this.duplicates),
      originals: Int32Array.from(this.originals),
      copiedTwins: tree.ordinalsWith(FORKED_TWIN, FORKED),
      variants: Int32Array.from(this.variants),
      lastRows: this.replies.lastRows(),
      summary: this.findSummary(),
      tail: {
        rows: (this.saved?.rows ?? 0) + tree.size - (this.saved?.window.ids.length ?? 0),
        window: withWindow ? tree.window(activity, (reply) => this.replies.keyOf(reply)) : NO_WINDOW,
        leaf: tree.inWindow(tree.leaf),
        rewound: rewoundTo !== -1 || this.wasRewound,
        open: this.replies.open(),
        closed: this.replies.closed(),
        refs: links.refs,
        summaries: this.pendingSummaries(),
      },
    };
    return { outline, links };
  }

  private addDuplicate(known: number, ordinal: number, isForked: boolean): void {
    this.duplicates.push(ordinal);
    this.originals.push(this.tree.ordinals[known]!);
    if (!isForked || (this.tree.flags[known]! & (FORKED | FORKED_TWIN)) !== 0) return;
    if (this.tree.isSaved(known)) throw new ReadWholeSource();
    this.tree.flags[known]! |= FORKED_TWIN;
  }

  private addReply(row: Row, ordinal: number, isSidechain: boolean): number {
    const messageId = row.id('message.id');
    if (messageId === null) {
      this.replies.addNameless();
      return -1;
    }
    const copied = isSidechain || row.looksCopied(this.facts.sessionId);
    const key = hash53(messageId);
    const request = row.idHash('requestId');
    if (!this.replies.isOther(key, request, copied)) return this.replies.add(key, request, copied, ordinal);
    this.variants.push(ordinal);
    return this.replies.add(hash53(variantKey(messageId, row.id('requestId') ?? '')), request, copied, ordinal);
  }

  /**
   * Rows only ever follow rows that stand before them. Where the parent is not in the file (damaged, withdrawn or cut
   * off) nothing proves that what came before was abandoned: the row follows the one before it.
   */
  private parentOf(row: Row): number {
    const parent = row.idHash('parentUuid') || row.idHash('logicalParentUuid');
    if (parent !== 0) {
      const known = this.tree.table.find(parent);
      if (known !== -1) return known;
      if (this.tree.isWhole) return this.tree.leaf;
      // Progress rows are no messages and end no branch; their old parents are of no matter.
      if (row.kind === 'progress') return BEFORE;
      throw new ReadWholeSource();
    }
    // A compaction starts a new tree, but not a new conversation.
    if (row.equals('subtype', 'compact_boundary') || row.isTrue('isCompactSummary')) return this.tree.leaf;
    if (this.tree.isWhole) return ROOT;
    throw new ReadWholeSource();
  }

  /** A summary is this session's title only if it is about a row of this file: old versions wrote those of others in it. */
  private findSummary(): number {
    const { table } = this.tree;
    for (const leaf of this.saved?.summaries ?? []) if (table.find(leaf) !== -1) throw new ReadWholeSource();
    const found = this.summaries.findLast(({ leaf }) => leaf !== 0 && table.find(leaf) !== -1);
    // The last one may be about a row that is out of sight.
    if (found !== this.summaries.at(-1) && !this.tree.isWhole) throw new ReadWholeSource();
    return found?.ordinal ?? -1;
  }

  private pendingSummaries(): number[] {
    const { table } = this.tree;
    const pending = this.summaries.map(({ leaf }) => leaf).filter((leaf) => leaf !== 0 && table.find(leaf) === -1);
    return [...(this.saved?.summaries ?? []), ...pending].slice(-PENDING_SUMMARIES);
  }
}

/** Key of a reply that shares its message id with an earlier one. */
export const variantKey = (messageId: string, requestId: string): string => `${messageId}/${requestId}`;

function flagsOf(row: Row): number {
  let flags = row.isTrue('isSidechain') ? SIDECHAIN : 0;
  if (row.kind !== 'progress') flags |= LEAF;
  if (row.kind === 'user' || row.kind === 'assistant' || row.isDisguisedPrompt()) flags |= MESSAGE;
  if (row.holdsToolResult()) flags |= RESULT;
  return flags;
}

function inactiveRows(tree: RowTree, { active }: Activity): Int32Array {
  const found: number[] = [];
  for (let i = 0; i < tree.size; i++) {
    if (active[i] === 0 && (tree.flags[i]! & MESSAGE) !== 0 && !tree.isSaved(i)) found.push(tree.ordinals[i]!);
  }
  return Int32Array.from(found);
}

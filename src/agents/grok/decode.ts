/** Notifications to messages, calls and ledgers. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { recordKey } from '../dialects/forks.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { field, type Json, nameField, objectField, stringField, textOrNull } from '../dialects/json.ts';
import { eventAt, messageFields, type Time } from '../dialects/rows.ts';
import { Calls } from './calls.ts';
import type { JournalOutline } from './outline.ts';
import { isSubagent, sessionIdOf, sessionOf } from './session.ts';
import {
  CHUNKS,
  chunkText,
  isHostTurn,
  isToolLine,
  promptId,
  readUpdate,
  toolId,
  type Update,
  UserRuns,
} from './update.ts';
import { readTurnUsage } from './usage.ts';

/** Notifications that carry no rows. */
const SILENT = new Set([
  'available_commands_update',
  'compaction_checkpoint',
  'current_mode_update',
  'goal_updated',
  'hook_annotation',
  'hook_execution',
  'model_auto_switched',
  'model_changed',
  'monitor_event',
  'plan',
  'response_completed',
  'response_started',
  'retry_state',
  'rewind_marker',
  'session_info_update',
  'session_recap',
  'session_summary_generated',
  'subagent_finished',
  'subagent_progress',
  'subagent_spawned',
  'task_backgrounded',
  'task_completed',
  'workflow_updated',
]);
const SILENT_KINDS = /^(?:auto_compact_|memory_)/;

/** Chunks of one kind that follow each other. */
interface Run {
  readonly kind: 'user' | 'agent' | 'thought';
  readonly first: Update;
  readonly position: Position;
  readonly model: string | null;
  readonly isHost: boolean;
  readonly isCopy: boolean;
  readonly texts: string[];
  readonly kinds: Set<string>;
}

export class JournalDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext<JournalOutline>;
  private readonly outline: JournalOutline;
  private readonly sessionId: string;
  private readonly calls: Calls;
  private readonly userRuns = new UserRuns();
  private run: Run | null = null;
  /** A run of thoughts, until it is known whether a reply follows. */
  private thought: Run | null = null;
  private model: string | null = null;
  private isHost = false;
  private isEmpty = true;
  private hasUsage = false;

  constructor(context: DecodeContext<JournalOutline>, out: Emitter) {
    this.context = context;
    this.out = out;
    this.outline = context.outline ?? { dead: [], lastOfCall: new Map(), lastOfPrompt: new Map() };
    this.sessionId = sessionIdOf(context.source);
    this.calls = new Calls(this.sessionId, out);
  }

  frame(frame: Frame): void {
    let update: Update | null = null;
    try {
      const record = objectOrReport(frame, this.out);
      if (record === null) return;
      update = readUpdate(record);
      if (update === null) this.out.unknown('(no notification)');
    } finally {
      // Whatever the line is: it ends what the user said before.
      const begins = this.userRuns.begins(update);
      if (this.run?.kind === 'user' && (begins || update === null || CHUNKS[update.kind] !== 'user')) this.endRun();
    }
    if (update === null) return;
    this.isEmpty = false;
    const position = frame.position();
    if (CHUNKS[update.kind] !== undefined) this.chunk(update, position);
    else if (isToolLine(update)) this.tool(update, position);
    else this.other(update, position);
  }

  finish(): void {
    this.endRuns();
    if (this.isEmpty) return;
    if (this.hasUsage && isSubagent(this.context.source))
      this.out.issue(
        'info',
        'approximate_total',
        'a subagent that its parent waited for is in the ledger of the parent too: the sum over both may be too great',
      );
    this.out.session(sessionOf(this.context.source));
  }

  private chunk(update: Update, position: Position): void {
    const kind = CHUNKS[update.kind]!;
    if (this.run !== null && this.run.kind !== kind) this.endRun();
    if (this.run === null) {
      if (kind === 'user') {
        this.endRuns();
        this.isHost = isHostTurn(update);
        this.model = nameField(update.meta, 'modelId') ?? this.model;
      }
      const isHost = this.isHost || isHostTurn(update);
      const { model } = this;
      const isCopy = this.isCopy(update);
      this.run = { kind, first: update, position, model, isHost, isCopy, texts: [], kinds: new Set() };
    }
    const text = chunkText(update);
    if (text !== null) this.run.texts.push(text);
    const content = objectField(update.update, 'content');
    if (content !== null) reportContent([content], position, this.out);
    this.run.kinds.add(
      text !== null ? 'text' : ((content === null ? null : stringField(content, 'type')) ?? 'unknown'),
    );
  }

  private tool(update: Update, position: Position): void {
    const id = toolId(update);
    if (id === null) {
      this.out.badRecord(position, 'missing_field', 'a call of a tool without toolCallId');
      return;
    }
    if (!this.calls.has(id)) this.endRuns();
    this.calls.take(id, update, position, this.isCopy(update));
    if ((this.outline.lastOfCall.get(id) ?? position.ordinal) <= position.ordinal) this.calls.close(id);
  }

  private other(update: Update, position: Position): void {
    const { kind } = update;
    if (kind === 'turn_completed') {
      this.endRuns();
      this.isHost = false;
      this.usage(update, position);
    } else if (SILENT.has(kind) || SILENT_KINDS.test(kind)) {
      if (kind === 'rewind_marker') this.endRuns();
      if (kind === 'model_changed') this.model = nameField(update.update, 'model_id') ?? this.model;
      this.out.ignored(kind);
    } else this.out.unknown(kind);
  }

  private usage(update: Update, position: Position): void {
    const usage = objectField(update.update, 'usage');
    if (usage === null) return;
    const id = promptId(update);
    const last = id === null ? undefined : this.outline.lastOfPrompt.get(id);
    if (last !== undefined && last > position.ordinal) return;
    const isNative = !this.isCopy(update);
    // Without an id the copy cannot be told from its original by the ledger.
    if (!isNative && id === null) return;
    const turn = { promptId: id, model: this.model, isNative };
    for (const { slot, observation } of readTurnUsage(usage, turn, this.out, position)) {
      this.hasUsage = true;
      this.out.usage(eventAt(this.sessionId, id ?? update.eventId, slot, position, update.time), observation);
    }
  }

  private isCopy({ eventId }: Update): boolean {
    return eventId !== null && this.context.copies.has(recordKey(eventId));
  }

  private isActive({ ordinal }: Position): boolean {
    return !this.outline.dead.some(([from, to]) => ordinal >= from && ordinal < to);
  }

  /** Ends the run that goes on, and thoughts that no reply followed. */
  private endRuns(): void {
    this.endRun();
    if (this.thought !== null) this.tell(this.thought, null);
    this.thought = null;
  }

  private endRun(): void {
    const { run } = this;
    this.run = null;
    if (run === null) return;
    const { thought } = this;
    this.thought = null;
    if (run.kind === 'thought') {
      if (thought !== null) this.tell(thought, null);
      this.thought = run;
    } else if (run.kind === 'agent') this.tell(thought ?? run, run);
    else {
      if (thought !== null) this.tell(thought, null);
      this.tell(run, run);
    }
  }

  /** A message: what was said, the thoughts before it, or both. `head` is the first run of it. */
  private tell(head: Run, said: Run | null): void {
    const run = said ?? head;
    const isUser = run.kind === 'user';
    const whole = said === null ? null : said.texts.join('');
    const text = textOrNull(whole !== null && isUser ? typed(whole) : whole);
    const thinking = head.kind === 'thought' ? textOrNull(head.texts.join('')) : null;
    const attached = [...run.kinds].some((kind) => kind !== 'text');
    if (text === null && thinking === null && !attached) return;
    const time: Time = run.first.time;
    this.out.message(
      eventAt(this.sessionId, head.first.eventId, 'message', head.position, time),
      messageFields({
        role: isUser ? 'user' : 'assistant',
        is_copy: head.isCopy,
        record_id: head.first.eventId,
        kind: run.kind,
        model: isUser || run.isHost ? null : run.model,
        text,
        thinking,
        is_meta: isUser ? isHidden(run.first.meta) : run.isHost,
        is_active: this.isActive(head.position),
        content_kinds: [...(thinking === null ? [] : ['thinking']), ...(said === null ? [] : said.kinds)],
      }),
    );
  }
}

/** A prompt that the program made: it woke up by itself, or a schedule did. */
const isHidden = (meta: Json): boolean => field(meta, 'hideFromScrollback') === true;

/** What was typed, without what the program put before it. */
const typed = (text: string): string =>
  text
    .replace(/<fork-context>[\s\S]*?<\/fork-context>\s*/, '')
    .replace(/<resume-context>[\s\S]*?<\/resume-context>\s*/, '');

/** Where decoders tell what they found: adds identity and provenance, counts, and hands rows on. */
import type {
  Emitter,
  EventAt,
  HistoryFields,
  MessageFields,
  SessionFields,
  ToolCallFields,
  ToolResultFields,
  UsageObservation,
} from '../agents/agent.ts';
import type { Position } from '../framing/frame.ts';
import { type Accounting, type Counted, type Normalized, normalizeUsage } from '../ledger/normalize.ts';
import { eventId, positionalEventId } from '../records/identity.ts';
import type { EventColumns, IssueRow, Rows, TableName, Text, UsageRow } from '../records/tables.ts';
import { messageRow, toolCallRow, toolResultRow, usageRow } from './rows.ts';
import type { SessionPart } from './session-part.ts';
import { emptyTally, noteModel, noteTime, type SessionTally } from './tally.ts';

/** Takes the rows of one source. `bytes` is a rough size of the row in memory. */
export interface RowTarget {
  row<N extends Exclude<TableName, 'usage' | 'sessions' | 'sources' | 'issues'>>(
    table: N,
    row: Rows[N],
    bytes: number,
  ): void;
  /** A usage row as if it were counted in full; the ledger decides. */
  usage(row: UsageRow, claim: { native: boolean; variant: string | null }, bytes: number): void;
  /** The same where only totals are wanted: no row is made. */
  tally?(usage: UsageTally): void;
}

/** What totals need of an observation. */
export interface UsageTally {
  readonly agent: string;
  /** null: a reply that no other source can hold. */
  readonly key: string | null;
  readonly variant: string | null;
  readonly native: boolean;
  readonly timestamp: number | null;
  readonly model: string | null;
  readonly counted: Counted;
}

/** What a read is asked for. */
export interface Projection {
  readonly tables: readonly TableName[];
  /** Milliseconds since 1970; rows before it are left out. null = from the beginning. */
  readonly since: number | null;
  /** Rows at or after it are left out. null = to the end. */
  readonly until: number | null;
  /** Workspace paths that begin with `from` begin with `to` instead: for stores copied from elsewhere. */
  readonly rewrite: readonly { readonly from: string; readonly to: string }[];
  readonly accounting: Accounting;
  /** Only sums of usage are wanted: records that cannot hold any need not be looked at. */
  readonly totalsOnly: boolean;
}

export interface SourceIdentity {
  readonly agent: string;
  readonly sourceId: string;
  readonly sourcePath: string;
  readonly sourceName: string;
  readonly host: string;
  readonly generation: number;
}

/** Rows in `issues` a source gives at most; the rest is one more row that tells their number. */
const MAX_ISSUES = 1000;
/** Rough size of a row without its texts. */
const ROW_BYTES = 320;

const size = (text: Text | null): number => (text === null ? 0 : text.length);

/** Counters that an `append` read goes on with. */
export interface EmitterState {
  lineErrors: number;
  ignored: Record<string, number>;
  unknown: Record<string, number>;
  tallies: Record<string, SessionTally>;
}

export class SourceEmitter implements Emitter {
  readonly wants: Emitter['wants'];
  readonly issues: IssueRow[] = [];
  readonly sessions: SessionPart[] = [];
  readonly rowCounts: Partial<Record<TableName, number>> = {};
  lineErrors = 0;
  private droppedIssues = 0;
  private ignoredTypes = new Map<string, number>();
  private unknownTypes = new Map<string, number>();
  private tallies = new Map<string, SessionTally>();
  private readonly identity: SourceIdentity;
  private readonly projection: Projection;
  private readonly target: RowTarget;
  private readonly tables: ReadonlySet<TableName>;

  constructor(identity: SourceIdentity, projection: Projection, target: RowTarget, resume: EmitterState | null) {
    this.identity = identity;
    this.projection = projection;
    this.target = target;
    this.tables = new Set(projection.tables);
    const wants = (table: TableName): boolean => this.tables.has(table);
    this.wants = {
      messages: wants('messages'),
      tool_calls: wants('tool_calls'),
      tool_results: wants('tool_results'),
      usage: wants('usage'),
      sessions: wants('sessions'),
      history: wants('history'),
    };
    if (resume !== null) {
      this.lineErrors = resume.lineErrors;
      this.ignoredTypes = new Map(Object.entries(resume.ignored));
      this.unknownTypes = new Map(Object.entries(resume.unknown));
      this.tallies = new Map(Object.entries(structuredClone(resume.tallies)));
    }
  }

  /** A copy of the counters, to go on from. */
  save(): EmitterState {
    return structuredClone({
      lineErrors: this.lineErrors,
      ignored: this.ignoredCounts(),
      unknown: this.unknownCounts(),
      tallies: Object.fromEntries(this.tallies),
    });
  }

  message(at: EventAt, fields: MessageFields): void {
    const tally = fields.is_copy ? null : this.tally(at);
    if (tally !== null) {
      tally.messages++;
      if (fields.role === 'user' && !fields.is_meta) tally.userMessages++;
      noteModel(tally, fields.model);
    }
    if (!this.wants.messages || !this.isInRange(at.timestamp)) return;
    this.count('messages');
    this.target.row(
      'messages',
      messageRow(this.event(at), fields),
      ROW_BYTES + size(fields.text) + size(fields.thinking),
    );
  }

  toolCall(at: EventAt, fields: ToolCallFields): void {
    const tally = fields.is_copy ? null : this.tally(at);
    if (tally !== null) tally.toolCalls++;
    if (!this.wants.tool_calls || !this.isInRange(at.timestamp)) return;
    this.count('tool_calls');
    this.target.row('tool_calls', toolCallRow(this.event(at), fields), ROW_BYTES + size(fields.arguments));
  }

  toolResult(at: EventAt, fields: ToolResultFields): void {
    if (!fields.is_copy) this.tally(at);
    if (!this.wants.tool_results || !this.isInRange(at.timestamp)) return;
    this.count('tool_results');
    this.target.row(
      'tool_results',
      toolResultRow(this.event(at), fields),
      ROW_BYTES + size(fields.output) + size(fields.output_json),
    );
  }

  usage(at: EventAt, observation: UsageObservation): void {
    if (this.projection.totalsOnly) {
      this.tallyUsage(at, observation);
      return;
    }
    if (observation.native) {
      const tally = this.tally(at);
      noteModel(tally, observation.model);
      tally.usage = observation.basis === 'session_total' ? (tally.usage ?? 'session_total') : 'per_reply';
    }
    if (!this.wants.usage || !this.isInRange(at.timestamp)) return;
    const normalized = this.normalized(at, observation);
    this.count('usage');
    const row = usageRow(this.event(at), observation, normalized);
    this.target.usage(row, observation, ROW_BYTES * 2);
  }

  private normalized(at: EventAt, observation: UsageObservation): Normalized {
    const normalized = normalizeUsage(observation, this.projection.accounting);
    for (const problem of normalized.problems) {
      this.addIssue('error', 'bad_counter', `a usage counter is not counted: ${problem}`, at.position);
    }
    return normalized;
  }

  private tallyUsage(at: EventAt, observation: UsageObservation): void {
    if (!this.isInRange(at.timestamp)) return;
    const { counted } = this.normalized(at, observation);
    const { key, variant, native, model } = observation;
    this.target.tally?.({ agent: this.identity.agent, key, variant, native, timestamp: at.timestamp, model, counted });
  }

  session(fields: SessionFields): void {
    if (!this.wants.sessions) return;
    this.sessions.push({
      agent: this.identity.agent,
      sourceId: this.identity.sourceId,
      sourcePath: this.identity.sourcePath,
      host: this.identity.host,
      fields: { ...fields, cwd: this.rewritten(fields.cwd) },
      tally: structuredClone(this.tallies.get(fields.session_id) ?? emptyTally()),
    });
  }

  history(position: Position, fields: HistoryFields): void {
    if (!this.wants.history || !this.isInRange(fields.timestamp)) return;
    this.count('history');
    const row = {
      agent: this.identity.agent,
      source_id: this.identity.sourceId,
      ordinal: position.ordinal,
      ...fields,
      cwd: this.rewritten(fields.cwd),
    };
    this.target.row('history', row, ROW_BYTES + size(fields.text));
  }

  ignored(type: string): void {
    this.ignoredTypes.set(type, (this.ignoredTypes.get(type) ?? 0) + 1);
  }

  unknown(type: string): void {
    // Type names come from the store: a hostile one must neither be huge nor make the map grow without end.
    const name = this.unknownTypes.size < 500 || this.unknownTypes.has(type) ? type.slice(0, 100) : '(further types)';
    this.unknownTypes.set(name, (this.unknownTypes.get(name) ?? 0) + 1);
  }

  badRecord(position: Position, code: string, message: string): void {
    this.lineErrors++;
    this.addIssue('error', code, message, position);
  }

  issue(severity: 'warning' | 'info', code: string, message: string, position?: Position): void {
    this.addIssue(severity, code, message, position);
  }

  addIssue(severity: IssueRow['severity'], code: string, message: string, position?: Position): void {
    if (this.issues.length >= MAX_ISSUES) {
      this.droppedIssues++;
      return;
    }
    this.issues.push({
      agent: this.identity.agent,
      source_id: this.identity.sourceId,
      severity,
      code,
      message,
      ordinal: position?.ordinal ?? null,
      byte_start: position?.byteStart ?? null,
      byte_end: position?.byteEnd ?? null,
    });
  }

  /** Says how many issues found no room. */
  closeIssues(): void {
    const dropped = this.droppedIssues;
    if (dropped === 0) return;
    this.issues.push({
      agent: this.identity.agent,
      source_id: this.identity.sourceId,
      severity: 'warning',
      code: 'more_issues',
      message: `${dropped} more issues of this source are not listed`,
      ordinal: null,
      byte_start: null,
      byte_end: null,
    });
  }

  ignoredCounts(): Record<string, number> {
    return Object.fromEntries([...this.ignoredTypes].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  unknownCounts(): Record<string, number> {
    return Object.fromEntries([...this.unknownTypes].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private rewritten(path: string | null): string | null {
    if (path === null) return null;
    for (const { from, to } of this.projection.rewrite) {
      const rest = path.slice(from.length);
      // Whole path components only: `/home/a` does not begin `/home/ab`.
      if (path.startsWith(from) && (rest === '' || /^[/\\]/.test(rest) || /[/\\]$/.test(from))) return to + rest;
    }
    return path;
  }

  private count(table: TableName): void {
    this.rowCounts[table] = (this.rowCounts[table] ?? 0) + 1;
  }

  private isInRange(timestamp: number | null): boolean {
    const { since, until } = this.projection;
    if (since === null && until === null) return true;
    // A row without a time is in no range that somebody asked for.
    if (timestamp === null) return false;
    return (since === null || timestamp >= since) && (until === null || timestamp < until);
  }

  private tally(at: EventAt): SessionTally {
    let tally = this.tallies.get(at.sessionId);
    if (tally === undefined) {
      tally = emptyTally();
      this.tallies.set(at.sessionId, tally);
    }
    noteTime(tally, at.timestamp);
    return tally;
  }

  private event(at: EventAt): EventColumns {
    const { agent, sourceId, sourceName, generation } = this.identity;
    const { position } = at;
    return {
      agent,
      session_id: at.sessionId,
      source_id: sourceId,
      event_id:
        at.nativeId === null
          ? positionalEventId(agent, at.sessionId, sourceName, position.ordinal, at.slot)
          : eventId(agent, at.sessionId, at.nativeId, at.slot),
      ordinal: position.ordinal,
      byte_start: position.byteStart,
      byte_end: position.byteEnd,
      locator: position.locator,
      timestamp: at.timestamp,
      timestamp_text: at.timestampText,
      generation,
      revision: 0,
    };
  }
}

/**
 * What one agent has to say about itself. An agent is ONE `AgentDefinition` in a folder of its own, entered in the
 * registry with one line; everything else in sessionlake is the same for all agents.
 */

import type { ListPath } from '../framing/document-stream.ts';
import type { FolderFile } from '../framing/folder.ts';
import type { Frame, Position } from '../framing/frame.ts';
import type { LineFilter } from '../framing/jsonl.ts';
import type { RowQuery } from '../framing/row-frames.ts';
import type {
  HistoryRow,
  MessageRow,
  SessionRow,
  Text,
  ToolCallRow,
  ToolResultRow,
  UsageRow,
} from '../records/tables.ts';
import type { AgentEnvironment, RootCandidate, SourceFault, Walker } from './surroundings.ts';

export type { AgentEnvironment, Entry, FileEntry, RootCandidate, SourceFault, Walker } from './surroundings.ts';

/** One source: what is read as one. */
export interface SourceSpec {
  /** Key into `AgentDefinition.formats`. */
  readonly storeKind: string;
  /** Absolute path of the file (or database). */
  readonly path: string;
  /**
   * Identity of the source within its agent: stays the same when the file is moved in ways the agent itself moves it
   * (archived, compressed). Mostly the path. Feeds `source_id`.
   */
  readonly identity: string;
  /**
   * Host-independent short name (file stem): with the ordinal it is the identity of records without a native id.
   */
  readonly name: string;
  /** Facts known before reading (ids from the path, title from an index); JSON-able. A change of them is a change of the source. */
  readonly hints: Readonly<Record<string, string | number | boolean | null>>;
  /** Small files that belong to the source, by name; part of its fingerprint; handed to the decoder as bytes. */
  readonly sidecars: Readonly<Record<string, string>>;
  /**
   * Key of the session inside the database `path`: handed to `FormatCode.query`. The sessions of one database are
   * sources of their own, read in one transaction. Absent: the file is one source, or a database without sessions.
   */
  readonly member?: string;
  /** Changes when the source does, where size and times of `path` do not tell that: of members and folders. */
  readonly state?: string;
  /** Bytes, about, where that is not the size of `path`. */
  readonly bytes?: number;
  /** Set where it is known already that the source cannot be read: it is reported so, and never opened. */
  readonly fault?: SourceFault;
}

/** Identities by which sources are tied together, read from the head of a source. */
export interface Links {
  /** Ids under which others refer to this source (its session id). */
  readonly ids: readonly string[];
  /** Ids of sources whose history this one may repeat. Empty for nearly all. */
  readonly refs: readonly string[];
}

/** Identities of a source's records, for finding copies between the sources of one family. Parallel arrays. */
export interface Claims {
  /** `hash53` of each record's identity. */
  readonly keys: Float64Array;
  /** How strong the claim on that record is: 0 = native; greater = weaker. */
  readonly ranks: Uint8Array;
  /** Milliseconds since 1970 of the first record with a time; null where there is none. */
  readonly firstTimestamp: number | null;
}

export interface FamilyMember {
  readonly source: SourceSpec;
  readonly links: Links;
  readonly claims: Claims;
}

/** What the family says about one of its members. */
export interface Kinship {
  /** Keys of records that this source holds only as copies (or: that its parent holds; the format decides). */
  readonly copies: Float64Array;
  /** Whether a source that this one refers to was found. */
  readonly foundRelated: boolean;
  /** Session whose history this one repeats, where only the family can tell; absent or null: not known. */
  readonly parentId?: string | null;
}

export interface DecodeContext<Outline = unknown> {
  readonly source: SourceSpec;
  /** Contents of the sidecars that exist. */
  readonly sidecars: Readonly<Record<string, Buffer>>;
  /** What `outline` gave for this source; null where the format has none. */
  readonly outline: Outline | null;
  /** From the family; empty where the source has none. */
  readonly copies: ReadonlySet<number>;
  readonly foundRelated: boolean;
  /** From the family: session whose history this one repeats; null where the family does not say. */
  readonly parentId?: string | null;
  /** State saved by `Decoder.save` when reading goes on at a saved byte (`append`); null at a start from the top. */
  readonly resume: unknown;
}

/** Thrown by a decoder or outline that cannot go on from a saved state: the source is then read whole. */
export class ReadWholeSource extends Error {}

/**
 * A decoder: a function of frames, sidecars, kinship and state, all handed to it. No clock, no environment, no files.
 * It tells what it finds to its `Emitter`. A record that it cannot use is reported with `out.badRecord`; whatever it
 * throws with record scope is reported so for it.
 */
export interface Decoder {
  frame(frame: Frame): void;
  /** The end of the source: tell what was held open, and the sessions. */
  finish(): void;
  /**
   * JSON-able state to go on from at the end of the last frame. Called before `finish`; what was held open then is told
   * both now and, if it changes, again by the next run.
   */
  save?(): unknown;
}

/** What a look over a whole source gives. */
export interface Outlined<Outline> {
  readonly outline: Outline;
  readonly links?: Links;
}

/** What is known of a layout without loading the code that reads it. */
export interface FormatTraits {
  /**
   * `jsonl`: a line is a record (`.zst` is decompressed); what follows the last line end is still being written.
   * `text`: a line is a record, the last one also without a line end.
   * `document`: the file is one JSON value: one frame, or (with `lists`) its head and then its records.
   * `database`: rows of an SQLite database, chosen by `query`; a session is a source.
   * `folder`: small JSON files, listed by `files`; each is a record.
   */
  readonly framing: 'jsonl' | 'text' | 'document' | 'database' | 'folder';
  /** Raised whenever the rows for the same bytes change: sources are then read again under a new generation. */
  readonly decoderVersion: number;
  /** `append` only where `Decoder.save` exists and its state is small. */
  readonly incremental: 'append' | 'diff';
  /** Whether sources may repeat each other's history: the code then has `peek`, `claims` and `resolve`. */
  readonly hasFamily?: boolean;
  /**
   * Whether even totals of usage depend on what relatives hold: where replies have no global id, copies cannot be told
   * by their key. Otherwise totals do without the family.
   */
  readonly usageNeedsFamily?: boolean;
  /**
   * Usage that a new reading of the whole source does not show was replaced (a session's sum by its replies, an estimate
   * by a total) and is taken back. Absent: what a store loses was billed all the same.
   */
  readonly replacesUsage?: boolean;
  /**
   * The store holds the newest part of a history and lets go of the rest as it grows: messages that a new reading does
   * not show are not withdrawn.
   */
  readonly isWindow?: boolean;
  /** Bytes up to which a sidecar is read, where they may be larger than such files mostly are. */
  readonly maxSidecar?: number;
}

/** One layout of an agent's store: its traits, and how to get at the code. */
export interface StoreFormat extends FormatTraits {
  /** Imports the decoder: only where a source of this layout is read. */
  // biome-ignore lint/suspicious/noExplicitAny: each format has an outline type of its own, known only inside it
  readonly load: () => Promise<FormatCode<any>>;
}

/** How one layout of an agent's store is read. */
export interface FormatCode<Outline = unknown> {
  /** `document`: where its long lists of records are; `[]` = the document itself. Absent: one frame. */
  readonly lists?: readonly ListPath[];
  /** `database`: the rows of one member. */
  readonly query?: RowQuery;
  /** `folder`: its files in reading order. `list` gives the files of a folder, by name. */
  readonly files?: (source: SourceSpec, list: (folder: string) => readonly string[]) => Iterable<FolderFile>;
  /** Reads just as many frames from the head as it needs. Absent: the source has no family. */
  readonly peek?: (frames: Iterable<Frame>, source: SourceSpec) => Links;
  /**
   * How totals of usage are read, where less will do for them: only records that hold `mark`, or that `accepts` lets
   * through, are looked at, without an outline, and the decoder may tell one reply in several observations. Sums must be
   * those of `decoder`. It may throw `ReadWholeSource` where less will not do: the source is then read by `decoder`.
   */
  readonly totals?: {
    readonly mark?: Buffer;
    readonly accepts?: LineFilter;
    readonly decoder: (context: DecodeContext<Outline>, out: Emitter) => Decoder;
  };
  /**
   * Run over whole sources, but only for members of families of two or more. May give the outline along, which then is
   * not made again where no position to go on from is wanted.
   */
  readonly claims?: (frames: Iterable<Frame>, source: SourceSpec) => Claims & { readonly outline?: Outlined<Outline> };
  /** Pure: says for each member (same order) what it holds as copies. */
  readonly resolve?: (members: readonly FamilyMember[]) => Kinship[];
  /**
   * Facts of the whole source that its first records need (which branch is live). Runs over all frames before the
   * decoder does (on resume: over the new ones). `links` (if given) are those found by the full read; where they differ
   * from what `peek` saw, the family is resolved anew and the source read again.
   */
  readonly outline?: (frames: Iterable<Frame>, source: SourceSpec, resume: unknown) => Outlined<Outline>;
  readonly decoder: (context: DecodeContext<Outline>, out: Emitter) => Decoder;
}

/** A layout with its code loaded. */
export type SourceFormat<Outline = unknown> = FormatTraits & FormatCode<Outline>;

/** Identity, place and time of an event. */
export interface EventAt {
  readonly sessionId: string;
  /** Native id of the record or reply; null where the store has none (source name and ordinal serve then). */
  readonly nativeId: string | null;
  /** Which part of the record: `message`, `call:<id>`, `result:<id>`, `usage` … unique within record and session. */
  readonly slot: string;
  readonly position: Position;
  /** Milliseconds since 1970 UTC; null where the store does not say. */
  readonly timestamp: number | null;
  /** Native spelling of the time. */
  readonly timestampText: string | null;
}

/** The columns of a table that a decoder fills; the decoding layer adds those of `EventColumns`. */
export type MessageFields = Pick<
  MessageRow,
  | 'is_copy'
  | 'message_id'
  | 'record_id'
  | 'parent_record_id'
  | 'role'
  | 'author'
  | 'kind'
  | 'model'
  | 'text'
  | 'thinking'
  | 'is_meta'
  | 'is_active'
  | 'content_kinds'
>;
export type ToolCallFields = Pick<ToolCallRow, 'is_copy' | 'message_id' | 'call_id' | 'name' | 'kind' | 'arguments'>;
export type ToolResultFields = Pick<ToolResultRow, 'is_copy' | 'call_id' | 'is_error' | 'output' | 'output_json'>;

/**
 * One observation of an API reply's usage. Counters are as recorded (null = absent); the ledger makes them disjoint and
 * counts each reply once over all sources.
 */
export interface UsageObservation
  extends Pick<
    UsageRow,
    | 'message_id'
    | 'request_id'
    | 'model'
    | 'provider'
    | 'input_tokens'
    | 'output_tokens'
    | 'cache_read_tokens'
    | 'cache_write_tokens'
    | 'cache_write_1h_tokens'
    | 'reasoning_tokens'
    | 'total_tokens'
    | 'input_includes_cache_read'
    | 'input_includes_cache_write'
    | 'output_includes_reasoning'
    | 'reported_cost_usd'
    | 'service_tier'
  > {
  readonly basis: 'native' | 'last_sample' | 'cumulative_delta' | 'session_total';
  readonly state: 'final' | 'partial' | 'unknown';
  /** Identity of the reply in the scope its ids are unique in; null: source and position are the key. Never blank. */
  readonly key: string | null;
  /**
   * Two native observations of one key with different non-null variants are two replies (gateways reuse ids).
   * Mostly the request id; null where nothing tells replies apart.
   */
  readonly variant: string | null;
  /** Whether this session made the request, by this record's own look; false for what looks like a replay. */
  readonly native: boolean;
}

/** What is known of a session from one source. Counts, times and models are added by the decoding layer. */
export type SessionFields = Pick<
  SessionRow,
  | 'session_id'
  | 'parent_session_id'
  | 'kind'
  | 'origin'
  | 'title'
  | 'cwd'
  | 'git_branch'
  | 'git_commit'
  | 'agent_version'
  | 'resume_command'
> &
  Partial<
    Pick<
      SessionRow,
      | 'reported_input_tokens'
      | 'reported_output_tokens'
      | 'reported_cache_read_tokens'
      | 'reported_cache_write_tokens'
      | 'reported_reasoning_tokens'
      | 'reported_total_tokens'
      | 'reported_cost_usd'
    >
  > & { extra?: Record<string, unknown> | null };

export type HistoryFields = Omit<HistoryRow, 'agent' | 'source_id' | 'ordinal'>;

/** Where a decoder tells what it found. */
export interface Emitter {
  /** Which tables are asked for; a decoder need not build what nobody wants. */
  readonly wants: {
    readonly messages: boolean;
    readonly tool_calls: boolean;
    readonly tool_results: boolean;
    readonly usage: boolean;
    readonly sessions: boolean;
    readonly history: boolean;
  };
  message(at: EventAt, fields: MessageFields): void;
  toolCall(at: EventAt, fields: ToolCallFields): void;
  toolResult(at: EventAt, fields: ToolResultFields): void;
  usage(at: EventAt, observation: UsageObservation): void;
  /** Once per session and source, mostly in `finish`. */
  session(fields: SessionFields): void;
  history(position: Position, fields: HistoryFields): void;
  /** A record type that is known and carries no rows. */
  ignored(type: string): void;
  /** A record type that is not known. */
  unknown(type: string): void;
  /** A record that is damaged: counted in `line_errors`, one row in `issues`. */
  badRecord(position: Position, code: string, message: string): void;
  /** Something worth knowing that is no damage. `message` must not hold content. */
  issue(severity: 'warning' | 'info', code: string, message: string, position?: Position): void;
}

export interface AgentDefinition {
  /** Lower case, as in the tables. */
  readonly slug: string;
  readonly name: string;
  readonly aliases: readonly string[];
  /** Strength of evidence for the format: writer, peer, report or doc. */
  readonly evidence: 'writer' | 'peer' | 'report' | 'doc';
  /** Usage the store records. */
  readonly usage: 'per_reply' | 'session_total' | 'none';
  /** One line on what is read, for the table of agents. */
  readonly stores: string;
  /** How a session is taken up again, `<id>` being its id; null where it cannot be from a shell, or is not known. */
  readonly resume: string | null;
  readonly roots: (environment: AgentEnvironment) => RootCandidate[];
  /** Sources below one root, in path order; what stands for another is decided here. `root` exists. */
  readonly discover: (root: string, walker: Walker) => Iterable<SourceSpec>;
  /**
   * Of the sources of all roots, those that are read: where the same session stands in several stores, one of them
   * tells it (with what the others know of it, as hints). Absent: all. Sources are known by their `identity`.
   */
  readonly choose?: (sources: readonly SourceSpec[], walker: Walker) => readonly SourceSpec[];
  readonly formats: Readonly<Record<string, StoreFormat>>;
}

export type { Text };

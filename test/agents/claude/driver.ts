/** A small stand-in for the pipeline: discovery, framing, families, outline, decoding and counting once. */
import { readFileSync } from 'node:fs';
import {
  type Emitter,
  type EventAt,
  type FormatCode,
  type HistoryFields,
  type Kinship,
  type Links,
  type MessageFields,
  ReadWholeSource,
  type SessionFields,
  type SourceFormat,
  type SourceSpec,
  type ToolCallFields,
  type ToolResultFields,
  type UsageObservation,
  type Walker,
} from '../../../src/agents/agent.ts';
import { historyCode, sessionCode } from '../../../src/agents/claude/format.ts';
import { claude } from '../../../src/agents/claude/index.ts';
import { FileWalker } from '../../../src/discovery/walker.ts';
import { recordError, ScopedError } from '../../../src/framing/errors.ts';
import type { Frame, Position } from '../../../src/framing/frame.ts';
import { countedOwners } from '../../../src/ledger/owners.ts';
import { eventId, positionalEventId } from '../../../src/records/identity.ts';

export const walker: Walker = new FileWalker('claude', () => false);

/** Where reading may stop and go on: after a line end. */
export interface Cut {
  readonly byte: number;
  readonly ordinal: number;
}
export const START: Cut = { byte: 0, ordinal: 0 };

class LineFrame implements Frame {
  ordinal = 0;
  byteStart = 0;
  byteEnd = 0;
  readonly locator = null;
  private readonly memory: Buffer;

  constructor(memory: Buffer) {
    this.memory = memory;
  }

  json(): unknown {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(this.bytes()));
    } catch {
      throw recordError('malformed_json', 'the line is not one JSON value');
    }
  }

  bytes(): Buffer {
    return this.memory.subarray(this.byteStart, this.byteEnd);
  }

  includes(needle: Buffer): boolean {
    return this.bytes().includes(needle);
  }

  position(): Position {
    return { ordinal: this.ordinal, byteStart: this.byteStart, byteEnd: this.byteEnd, locator: null };
  }
}

/** Complete lines as frames, all in one object, NUL bytes before a record and blank lines left out. */
export function* framesOf(bytes: Buffer, from: Cut = START, to: number = bytes.length): Generator<Frame> {
  const frame = new LineFrame(bytes);
  let { ordinal } = from;
  for (let start = from.byte; start < to; ) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1 || newline >= to) return;
    let begin = start;
    while (bytes[begin] === 0) begin++;
    start = newline + 1;
    if (bytes.subarray(begin, newline).toString('latin1').trim() === '') continue;
    frame.ordinal = ordinal++;
    frame.byteStart = begin;
    frame.byteEnd = newline;
    yield frame;
  }
}

/** All places at which a file of this content may have ended once. */
export function cutsOf(bytes: Buffer): Cut[] {
  const cuts: Cut[] = [START];
  let seen = 0;
  for (const frame of framesOf(bytes)) cuts.push({ byte: (frame.byteEnd ?? 0) + 1, ordinal: ++seen });
  return cuts;
}

export type Wants = Emitter['wants'];
export const ALL: Wants = {
  messages: true,
  tool_calls: true,
  tool_results: true,
  usage: true,
  sessions: true,
  history: true,
};
export const NONE: Wants = {
  messages: false,
  tool_calls: false,
  tool_results: false,
  usage: false,
  sessions: false,
  history: false,
};

/** An event row: its id, its place, its fields; byte arrays as text. */
export interface Told<T> {
  readonly id: string;
  readonly at: EventAt;
  readonly fields: T;
}

export class Recording implements Emitter {
  readonly wants: Wants;
  readonly messages: Told<MessageFields>[] = [];
  readonly calls: Told<ToolCallFields>[] = [];
  readonly results: Told<ToolResultFields>[] = [];
  readonly observations: Told<UsageObservation>[] = [];
  readonly sessions: SessionFields[] = [];
  readonly entries: { position: Position; fields: HistoryFields }[] = [];
  /** Tables and ordinals in the order of telling. */
  readonly order: string[] = [];
  readonly ignoredTypes: string[] = [];
  readonly unknownTypes: string[] = [];
  readonly errors: { ordinal: number; code: string }[] = [];
  readonly issues: string[] = [];
  private readonly name: string;

  constructor(name: string, wants: Wants) {
    this.name = name;
    this.wants = wants;
  }

  message(at: EventAt, fields: MessageFields): void {
    if (this.wants.messages) this.messages.push(this.told('messages', at, fields));
  }
  toolCall(at: EventAt, fields: ToolCallFields): void {
    if (this.wants.tool_calls) this.calls.push(this.told('tool_calls', at, fields));
  }
  toolResult(at: EventAt, fields: ToolResultFields): void {
    if (this.wants.tool_results) this.results.push(this.told('tool_results', at, fields));
  }
  usage(at: EventAt, observation: UsageObservation): void {
    if (this.wants.usage) this.observations.push(this.told('usage', at, observation));
  }
  session(fields: SessionFields): void {
    this.sessions.push(fields);
  }
  history(position: Position, fields: HistoryFields): void {
    this.entries.push({ position, fields });
  }
  ignored(type: string): void {
    this.ignoredTypes.push(type);
  }
  unknown(type: string): void {
    this.unknownTypes.push(type);
  }
  badRecord(position: Position, code: string): void {
    this.errors.push({ ordinal: position.ordinal, code });
  }
  issue(_severity: 'warning' | 'info', code: string): void {
    this.issues.push(code);
  }

  private told<T extends object>(table: string, at: EventAt, fields: T): Told<T> {
    const id =
      at.nativeId === null
        ? positionalEventId('claude', at.sessionId, this.name, at.position.ordinal, at.slot)
        : eventId('claude', at.sessionId, at.nativeId, at.slot);
    const plain = Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
    ]);
    this.order.push(`${table} ${at.position.ordinal}`);
    return structuredClone({ id, at, fields: Object.fromEntries(plain) as T });
  }
}

export interface Source {
  readonly spec: SourceSpec;
  readonly bytes: Buffer;
}

export const mainFile = (text: string | Buffer, stem = MAIN): Source => ({
  spec: {
    storeKind: 'claude-session',
    path: `/p/${stem}.jsonl`,
    identity: stem,
    name: stem,
    hints: { isAgent: false, parent: null },
    sidecars: {},
  },
  bytes: Buffer.from(text as string),
});

export const agentFile = (text: string, stem: string, parent: string | null = null): Source => {
  const source = mainFile(text, stem);
  return { ...source, spec: { ...source.spec, hints: { isAgent: true, parent } } };
};

/** Session id of a file that stands alone. */
export const MAIN = '11111111-1111-4111-8111-111111111111';

export function formatOf(spec: SourceSpec): SourceFormat {
  const { load: _, ...traits } = claude.formats[spec.storeKind]!;
  return { ...traits, ...(spec.storeKind === 'claude-history' ? historyCode : (sessionCode as FormatCode)) };
}

export interface Reading {
  readonly recording: Recording;
  /** Ids of the rows that were told before the state was saved, by table. */
  readonly savedIds: readonly string[];
  /** As JSON brings it back. */
  readonly state: unknown;
}

export interface ReadOptions {
  readonly wants?: Wants;
  readonly kinship?: Kinship;
  readonly from?: Cut;
  readonly to?: number;
  readonly resume?: unknown;
}

/** Ids of all rows told, sorted. */
export const idsOf = ({ messages, calls, results, observations }: Recording): string[] =>
  [...messages, ...calls, ...results, ...observations].map(({ id }) => id).sort();

/** Reads a part of a source. Throws `ReadWholeSource` as the format does. */
export function read({ spec, bytes }: Source, options: ReadOptions = {}): Reading {
  const { wants = ALL, from = START, to = bytes.length, resume = null } = options;
  const format = formatOf(spec);
  const recording = new Recording(spec.name, wants);
  const outlined = format.outline?.(framesOf(bytes, from, to), spec, resume);
  const sidecars: Record<string, Buffer> = {};
  for (const [name, path] of Object.entries(spec.sidecars)) sidecars[name] = readFileSync(path);
  const context = {
    source: spec,
    sidecars,
    outline: outlined?.outline ?? null,
    copies: new Set(options.kinship?.copies ?? []),
    foundRelated: options.kinship?.foundRelated ?? false,
    resume,
  };
  const decoder = format.decoder(context, recording);
  for (const frame of framesOf(bytes, from, to)) {
    try {
      decoder.frame(frame);
    } catch (error) {
      if (!(error instanceof ScopedError) || error.scope !== 'record') throw error;
      recording.badRecord(frame.position(), error.code);
    }
  }
  const savedIds = idsOf(recording);
  const saved = decoder.save?.();
  const state: unknown = saved === undefined ? null : JSON.parse(JSON.stringify(saved));
  decoder.finish();
  return { recording, savedIds, state };
}

/** Reads a source in two runs; null where the second has to read it whole. */
export function readInTwo(
  source: Source,
  cut: Cut,
  options: ReadOptions = {},
): { first: Recording; savedIds: readonly string[]; second: Recording } | null {
  const { recording: first, savedIds, state } = read(source, { ...options, to: cut.byte });
  try {
    return { first, savedIds, second: read(source, { ...options, from: cut, resume: state }).recording };
  } catch (error) {
    if (error instanceof ReadWholeSource) return null;
    throw error;
  }
}

/** The families of sources, resolved: kinship by source, in the order given; null for those without one. */
export function kinshipsOf(sources: readonly Source[]): (Kinship | null)[] {
  // The pipeline starts from `peek` and comes back with these where they differ.
  const links = sources.map(
    ({ spec, bytes }): Links => formatOf(spec).outline?.(framesOf(bytes), spec, null).links ?? { ids: [], refs: [] },
  );
  const isTied = (a: Links, b: Links): boolean =>
    a.refs.some((ref) => b.ids.includes(ref) || b.refs.includes(ref)) || b.refs.some((ref) => a.ids.includes(ref));
  const families = sources.map((_, index) => index);
  const rename = (from: number, to: number): void => {
    for (const [i, family] of families.entries()) if (family === from) families[i] = to;
  };
  for (let a = 0; a < sources.length; a++) {
    for (let b = a + 1; b < sources.length; b++) if (isTied(links[a]!, links[b]!)) rename(families[b]!, families[a]!);
  }
  const kinships: (Kinship | null)[] = sources.map(() => null);
  for (const family of new Set(families)) {
    const members = sources.map((_, index) => index).filter((index) => families[index] === family);
    if (members.length < 2) continue;
    const format = formatOf(sources[members[0]!]!.spec);
    const resolved = format.resolve!(
      members.map((index) => {
        const { spec, bytes } = sources[index]!;
        return { source: spec, links: links[index]!, claims: format.claims!(framesOf(bytes), spec) };
      }),
    );
    for (const [i, index] of members.entries()) kinships[index] = resolved[i]!;
  }
  return kinships;
}

/** Reads sources that may repeat each other. */
export function readAll(sources: readonly Source[], wants: Wants = ALL): Recording[] {
  const kinships = kinshipsOf(sources);
  return sources.map((source, index) => {
    const kinship = kinships[index];
    return read(source, { wants, ...(kinship ? { kinship } : {}) }).recording;
  });
}

export const sourcesBelow = (...roots: string[]): Source[] =>
  roots.flatMap((root) => [...claude.discover(root, walker)].map((spec) => ({ spec, bytes: readFileSync(spec.path) })));

/** Observations that count in full, over all sources, as the ledger decides. */
export function counted(recordings: readonly Recording[]): Told<UsageObservation>[] {
  const byKey = new Map<string, Told<UsageObservation>[]>();
  for (const told of recordings.flatMap((r) => r.observations)) {
    const key = told.fields.key ?? told.id;
    byKey.set(key, [...(byKey.get(key) ?? []), told]);
  }
  return [...byKey.values()].flatMap((all) =>
    countedOwners(
      all.map(({ fields }) => ({ native: fields.native, variant: fields.variant, output: fields.output_tokens ?? -1 })),
    ).map((index) => all[index]!),
  );
}

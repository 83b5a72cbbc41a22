/** A small stand-in for the pipeline: discovery, framing, families, outline, decoding, counting once. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import type {
  Decoder,
  Emitter,
  EventAt,
  FormatCode,
  Kinship,
  Links,
  MessageFields,
  SessionFields,
  SourceFormat,
  SourceSpec,
  ToolCallFields,
  ToolResultFields,
  UsageObservation,
  Walker,
} from '../../../src/agents/agent.ts';
import { ReadWholeSource } from '../../../src/agents/agent.ts';
import { documentCode, historyCode, rolloutCode } from '../../../src/agents/codex/format.ts';
import { codex } from '../../../src/agents/codex/index.ts';
import { FileWalker } from '../../../src/discovery/walker.ts';
import { recordError, ScopedError } from '../../../src/framing/errors.ts';
import type { Frame, Position } from '../../../src/framing/frame.ts';
import { eventId, positionalEventId } from '../../../src/records/identity.ts';

export const fileWalker = (): Walker => new FileWalker('codex', () => false);

class LineFrame implements Frame {
  ordinal = 0;
  byteStart = 0;
  byteEnd = 0;
  locator = null;
  readonly #bytes: Buffer;
  parsed = 0;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  bytes(): Buffer {
    return this.#bytes.subarray(this.byteStart, this.byteEnd);
  }
  json(): unknown {
    this.parsed++;
    try {
      return JSON.parse(this.bytes().toString('utf8'));
    } catch {
      throw recordError('bad_json', 'The line is no JSON.');
    }
  }
  includes(needle: Buffer): boolean {
    return this.bytes().includes(needle);
  }
  position(): Position {
    return { ordinal: this.ordinal, byteStart: this.byteStart, byteEnd: this.byteEnd, locator: null };
  }
}

/** Where a part of a source begins or ends. */
export interface Cut {
  readonly byte: number;
  readonly ordinal: number;
}
export const START: Cut = { byte: 0, ordinal: 0 };

/** Lines of a buffer as frames, one object for all; blank lines are no records, an unterminated last line is held back. */
export function* lines(bytes: Buffer, from: Cut = START, to = bytes.length): Generator<LineFrame> {
  const frame = new LineFrame(bytes);
  let ordinal = from.ordinal;
  for (let start = from.byte; start < to; ) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) return;
    if (bytes.toString('utf8', start, newline).trim() !== '') {
      frame.ordinal = ordinal++;
      frame.byteStart = start;
      frame.byteEnd = newline;
      yield frame;
    }
    start = newline + 1;
  }
}

/** Every place at which a run could have stopped: after each line end. */
export function cutsOf(bytes: Buffer): Cut[] {
  const cuts: Cut[] = [START];
  let ordinal = 0;
  for (let start = 0; ; ) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) return cuts;
    if (bytes.toString('utf8', start, newline).trim() !== '') ordinal++;
    start = newline + 1;
    cuts.push({ byte: start, ordinal });
  }
}

function documentFrame(bytes: Buffer): Frame {
  return {
    ordinal: 0,
    byteStart: null,
    byteEnd: null,
    locator: null,
    json: () => JSON.parse(bytes.toString('utf8')),
    bytes: () => bytes,
    includes: (needle) => bytes.includes(needle),
    position: () => ({ ordinal: 0, byteStart: null, byteEnd: null, locator: '' }),
  };
}

export type Row<T> = { readonly id: string; readonly at: EventAt } & T;

/** Everything that a decoder told, in order. */
export class Recording implements Emitter {
  readonly wants: Emitter['wants'];
  readonly #source: SourceSpec;
  readonly messages: Row<MessageFields>[] = [];
  readonly calls: Row<ToolCallFields>[] = [];
  readonly results: Row<ToolResultFields>[] = [];
  readonly observations: Row<UsageObservation>[] = [];
  readonly sessions: SessionFields[] = [];
  readonly histories: unknown[] = [];
  readonly ignoredTypes: Record<string, number> = Object.create(null);
  readonly unknownTypes: Record<string, number> = Object.create(null);
  readonly issues: string[] = [];
  readonly badRecords: string[] = [];
  lineErrors = 0;

  constructor(source: SourceSpec, wants: Emitter['wants'] = ALL) {
    this.#source = source;
    this.wants = wants;
  }
  #row<T>(at: EventAt, fields: T): Row<T> {
    const id =
      at.nativeId === null
        ? positionalEventId('codex', at.sessionId, this.#source.name, at.position.ordinal, at.slot)
        : eventId('codex', at.sessionId, at.nativeId, at.slot);
    return { id, at, ...fields };
  }
  message(at: EventAt, fields: MessageFields): void {
    if (this.wants.messages) this.messages.push(this.#row(at, fields));
  }
  toolCall(at: EventAt, fields: ToolCallFields): void {
    if (this.wants.tool_calls) this.calls.push(this.#row(at, fields));
  }
  toolResult(at: EventAt, fields: ToolResultFields): void {
    if (this.wants.tool_results) this.results.push(this.#row(at, fields));
  }
  usage(at: EventAt, observation: UsageObservation): void {
    if (this.wants.usage) this.observations.push(this.#row(at, observation));
  }
  session(fields: SessionFields): void {
    if (this.wants.sessions) this.sessions.push(fields);
  }
  history(position: Position, fields: object): void {
    this.histories.push({ ordinal: position.ordinal, ...fields });
  }
  ignored(type: string): void {
    this.ignoredTypes[type] = (this.ignoredTypes[type] ?? 0) + 1;
  }
  unknown(type: string): void {
    this.unknownTypes[type] = (this.unknownTypes[type] ?? 0) + 1;
  }
  badRecord(_position: Position, code: string): void {
    this.lineErrors++;
    this.badRecords.push(code);
  }
  issue(_severity: string, code: string): void {
    this.issues.push(code);
  }

  /** Rows as the tables hold them, the newest of each event. */
  newest(): Pick<Recording, 'messages' | 'calls' | 'results' | 'observations' | 'sessions'> {
    const last = <T extends { id: string }>(rows: T[]): T[] => [...new Map(rows.map((row) => [row.id, row])).values()];
    return {
      messages: last(this.messages),
      calls: last(this.calls),
      results: last(this.results),
      observations: last(this.observations),
      sessions: this.sessions.slice(-1),
    };
  }
}

export const ALL: Emitter['wants'] = {
  messages: true,
  tool_calls: true,
  tool_results: true,
  usage: true,
  sessions: true,
  history: true,
};
export const NOTHING: Emitter['wants'] = {
  messages: false,
  tool_calls: false,
  tool_results: false,
  usage: false,
  sessions: false,
  history: false,
};

export interface Loaded {
  readonly source: SourceSpec;
  readonly bytes: Buffer;
}

const code: Readonly<Record<string, FormatCode>> = {
  'codex-jsonl': rolloutCode({ command: 'codex', reasoningInEvents: false }) as FormatCode,
  'codex-document': documentCode,
  'codex-history': historyCode,
};

export const formatOf = (source: SourceSpec): SourceFormat<unknown> => {
  const { load: _, ...traits } = codex.formats[source.storeKind]!;
  return { ...traits, ...code[source.storeKind]! };
};

const load = (source: SourceSpec): Loaded => {
  const bytes = readFileSync(source.path);
  return { source, bytes: source.path.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes };
};

/** A rollout made up in a test. */
export function made(id: string, records: readonly unknown[], more: Partial<SourceSpec> = {}): Loaded {
  const name = more.name ?? `rollout-2026-01-01T00-00-00-${id}`;
  const source: SourceSpec = {
    storeKind: 'codex-jsonl',
    path: `/store/${name}.jsonl`,
    identity: `${name}.jsonl`,
    name,
    hints: { title: null, archived: false },
    sidecars: {},
    ...more,
  };
  const text = records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))).join('\n');
  return { source, bytes: Buffer.from(text === '' ? '' : `${text}\n`) };
}

const NO_KIN: Kinship = { copies: new Float64Array(), foundRelated: false };

/** Kinship of each source, from the links given. */
function kinships(all: readonly Loaded[], linksOf: ReadonlyMap<Loaded, Links>): Map<Loaded, Kinship> {
  const kin = new Map<Loaded, Kinship>();
  const families: Loaded[][] = [];
  const related = (a: Loaded, b: Loaded): boolean => {
    const [x, y] = [linksOf.get(a), linksOf.get(b)];
    const touches = (p: readonly string[], q: readonly string[]): boolean => p.some((id) => q.includes(id));
    return x !== undefined && y !== undefined && touches([...x.ids, ...x.refs], [...y.ids, ...y.refs]);
  };
  for (const one of all) {
    const mine = families.filter((family) => family.some((other) => related(one, other)));
    const merged = [...mine.flat(), one];
    for (const family of mine) families.splice(families.indexOf(family), 1);
    families.push(merged);
  }
  for (const family of families) {
    if (family.length < 2) continue;
    const members = family.map(({ source, bytes }) => ({
      source,
      links: linksOf.get(all.find((one) => one.source === source) as Loaded) as Links,
      claims: formatOf(source).claims?.(lines(bytes), source) as never,
    }));
    const resolved = formatOf((family[0] as Loaded).source).resolve?.(members) ?? [];
    family.forEach((one, i) => void kin.set(one, resolved[i] as Kinship));
  }
  return kin;
}

/** Peeks at all sources and resolves the families; the outline's links correct the peek's. */
export function resolveAll(all: readonly Loaded[]): Map<Loaded, Kinship> {
  const linksOf = new Map<Loaded, Links>();
  for (const one of all) {
    const peek = formatOf(one.source).peek;
    if (peek === undefined) continue;
    const full = formatOf(one.source).outline?.(lines(one.bytes), one.source, null).links;
    linksOf.set(one, full ?? peek(lines(one.bytes), one.source));
  }
  return kinships(all, linksOf);
}

export interface Run {
  readonly from: Cut;
  readonly to: number;
  readonly resume: unknown;
}

function pump(decoder: Decoder, frames: Iterable<Frame>, out: Recording): void {
  for (const frame of frames) {
    try {
      decoder.frame(frame);
    } catch (error) {
      if (!(error instanceof ScopedError) || error.scope !== 'record') throw error;
      out.lineErrors++;
    }
  }
}

/** Decodes a part of a source (or all of it) into a recording; gives the state at its end. */
export function decodePart(one: Loaded, kin: Kinship | undefined, out: Recording, run?: Run): unknown {
  const { source, bytes } = one;
  const { from, to, resume } = run ?? { from: START, to: bytes.length, resume: null };
  const format = formatOf(source);
  const frames = (): Iterable<Frame> =>
    format.framing === 'document' ? [documentFrame(bytes)] : lines(bytes, from, to);
  const outline = format.outline?.(frames(), source, resume).outline ?? null;
  const { copies, foundRelated } = kin ?? NO_KIN;
  const context = { source, sidecars: {}, outline, copies: new Set(copies), foundRelated, resume };
  const decoder = format.decoder(context, out);
  pump(decoder, frames(), out);
  const state = decoder.save?.() ?? null;
  decoder.finish();
  return state === null ? null : JSON.parse(JSON.stringify(state));
}

export function decode(one: Loaded, kin?: Kinship, wants: Emitter['wants'] = ALL): Recording {
  const out = new Recording(one.source, wants);
  decodePart(one, kin, out);
  return out;
}

/** Decodes up to a cut, then the rest from the saved state, or all again where that is asked for. */
export function decodeCut(one: Loaded, kin: Kinship | undefined, cut: Cut): { out: Recording; whole: boolean } {
  const out = new Recording(one.source);
  const state = decodePart(one, kin, out, { from: START, to: cut.byte, resume: null });
  try {
    const rest = new Recording(one.source);
    decodePart(one, kin, rest, { from: cut, to: one.bytes.length, resume: state });
    for (const name of ['messages', 'calls', 'results', 'observations', 'sessions'] as const)
      (out[name] as unknown[]).push(...rest[name]);
    return { out, whole: false };
  } catch (error) {
    if (!(error instanceof ReadWholeSource)) throw error;
    return { out: decode(one, kin), whole: true };
  }
}

export interface StoreRead {
  readonly all: readonly Loaded[];
  readonly kin: ReadonlyMap<Loaded, Kinship>;
  readonly recordings: ReadonlyMap<Loaded, Recording>;
  /** Path relative to the root, per source. */
  readonly names: ReadonlyMap<Loaded, string>;
}

export function loadStore(root: string): Loaded[] {
  return [...codex.discover(root, fileWalker())].map(load);
}

export function readStore(root: string, wants: Emitter['wants'] = ALL): StoreRead {
  const all = loadStore(root).filter(({ source }) => source.hints['optIn'] === undefined);
  const kin = resolveAll(all);
  const recordings = new Map(all.map((one) => [one, decode(one, kin.get(one), wants)]));
  return { all, kin, recordings, names: new Map(all.map((one) => [one, relative(root, one.source.path)])) };
}

export interface UsageTotal {
  input: number | null;
  output: number | null;
  cache_read: number | null;
  cache_write: number | null;
  reasoning: number | null;
}

/** Sums of disjoint counters, each key counted once. */
export function usageTotal(
  observations: readonly Row<UsageObservation>[],
  seen = new Set<string>(),
): UsageTotal | null {
  const total: UsageTotal = { input: null, output: null, cache_read: null, cache_write: null, reasoning: null };
  const add = (name: keyof UsageTotal, value: number | null): void => {
    if (value !== null) total[name] = (total[name] ?? 0) + value;
  };
  for (const o of observations) {
    const key = o.key === null ? `at ${o.id}` : `key ${o.key}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const uncached = (o.input_tokens ?? 0) - (o.cache_read_tokens ?? 0) - (o.cache_write_tokens ?? 0);
    add('input', o.input_tokens === null ? null : Math.max(0, uncached));
    add('output', o.output_tokens);
    add('cache_read', o.cache_read_tokens);
    add('cache_write', o.cache_write_tokens);
    add('reasoning', o.reasoning_tokens);
  }
  return observations.length === 0 ? null : total;
}

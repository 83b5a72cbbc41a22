import type { Random } from './random.ts';
import type { FileSink } from './sink.ts';

/** What differs between versions of Codex, as far as readers notice. */
export interface CodexEra {
  version: string;
  /** Lines carry ordinals, items are mirrored as `item_completed`, the world's state is written out. */
  paginated: boolean;
  /** One `token_usage_record` a reply, before its `token_count`. */
  usageRecords: boolean;
  /** Counters have `cache_write_input_tokens`. */
  cacheWrites: boolean;
  model: string;
}

export const CODEX_ERAS: readonly [share: number, era: CodexEra][] = [
  [30, { version: '0.98.0', paginated: false, usageRecords: false, cacheWrites: false, model: 'gpt-5.2-codex' }],
  [30, { version: '0.130.0', paginated: false, usageRecords: false, cacheWrites: false, model: 'gpt-5.4' }],
  [20, { version: '0.147.0', paginated: true, usageRecords: false, cacheWrites: true, model: 'gpt-5.5' }],
  [20, { version: '0.171.0', paginated: true, usageRecords: true, cacheWrites: true, model: 'gpt-5.5' }],
];

/** A token vector: the input includes the cached part, the output includes the reasoning. */
export interface CodexVector {
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
}

export function emptyVector(): CodexVector {
  return { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
}

export function addVector(to: CodexVector, more: CodexVector): void {
  to.input += more.input;
  to.cached += more.cached;
  to.cacheWrite += more.cacheWrite;
  to.output += more.output;
  to.reasoning += more.reasoning;
}

export function vectorJson(v: CodexVector, era: CodexEra, total = v.input + v.output): string {
  const write = era.cacheWrites ? `"cache_write_input_tokens":${v.cacheWrite},` : '';
  return `{"input_tokens":${v.input},"cached_input_tokens":${v.cached},${write}"output_tokens":${v.output},"reasoning_output_tokens":${v.reasoning},"total_tokens":${total}}`;
}

/** The lines of one rollout file: time, ordinal, type, payload. */
export class CodexLines {
  readonly sink: FileSink;
  readonly era: CodexEra;
  random: Random;
  /** Milliseconds; grows with every line. */
  now: number;
  /** Set while a fork writes its parent's history: those lines are stamped at the time of the fork. */
  stampedAt: number | null = null;
  #ordinal = 0;
  #stamped = 0;

  constructor(sink: FileSink, era: CodexEra, random: Random, now: number) {
    this.sink = sink;
    this.era = era;
    this.random = random;
    this.now = now;
  }

  begin(type: string): void {
    const at = this.stampedAt === null ? this.now : this.stampedAt + Math.floor(this.#stamped++ / 40);
    const ordinal = this.era.paginated ? `"ordinal":${this.#ordinal++},` : '';
    this.sink.text(`{"timestamp":"${new Date(at).toISOString()}",${ordinal}"type":"${type}","payload":`);
  }

  end(rest = ''): void {
    this.sink.text(`${rest}}`);
    this.sink.endLine();
  }

  /** A line whose payload is small. */
  line(type: string, payload: string): void {
    this.begin(type);
    this.end(payload);
  }

  event(fields: string): void {
    this.line('event_msg', `{${fields}}`);
  }

  wait(minMs: number, maxMs: number): void {
    this.now += this.random.int(minMs, maxMs);
  }
}

import type { Random } from './random.ts';
import type { FileSink } from './sink.ts';

/** What differs between versions of the CLI, as far as readers notice. */
export interface ClaudeEra {
  version: string;
  /**
   * Which of a reply's rows hold its final usage: none (the counters of the stream's start stay), the last one, or all.
   */
  finalUsage: 'none' | 'last' | 'all';
  /** From 2.1.9x on: prompt ids, entrypoint, iterations, start-of-session attachments, common fields at the row's end. */
  rich: boolean;
  /** `progress` rows for running tools, hooks and sub agents. */
  progress: boolean;
  /** Sub agents lie in the session's own folder, or (2.0.x) directly in the project. */
  agentFolder: 'session' | 'project';
  /** How a session that goes on from another one copies its history. */
  copies: 'old-session-id' | 'forked-from' | 'forked-from-and-request-session';
}

export const CLAUDE_ERAS: readonly [share: number, era: ClaudeEra][] = [
  [
    8,
    {
      version: '2.0.76',
      finalUsage: 'none',
      rich: false,
      progress: false,
      agentFolder: 'project',
      copies: 'old-session-id',
    },
  ],
  [
    20,
    {
      version: '2.1.30',
      finalUsage: 'last',
      rich: false,
      progress: true,
      agentFolder: 'session',
      copies: 'old-session-id',
    },
  ],
  [
    12,
    {
      version: '2.1.63',
      finalUsage: 'last',
      rich: false,
      progress: true,
      agentFolder: 'session',
      copies: 'forked-from',
    },
  ],
  [
    12,
    {
      version: '2.1.92',
      finalUsage: 'last',
      rich: true,
      progress: false,
      agentFolder: 'session',
      copies: 'forked-from',
    },
  ],
  [
    18,
    {
      version: '2.1.104',
      finalUsage: 'all',
      rich: true,
      progress: false,
      agentFolder: 'session',
      copies: 'forked-from',
    },
  ],
  [
    18,
    {
      version: '2.1.143',
      finalUsage: 'all',
      rich: true,
      progress: false,
      agentFolder: 'session',
      copies: 'forked-from',
    },
  ],
  [
    12,
    {
      version: '2.1.332',
      finalUsage: 'all',
      rich: true,
      progress: false,
      agentFolder: 'session',
      copies: 'forked-from-and-request-session',
    },
  ],
];

/** One reply's usage as the API gives it; `early` is what the stream's start said of the output. */
export interface ClaudeUsage {
  input: number;
  cacheWrite: number;
  cacheWrite1h: number;
  cacheRead: number;
  output: number;
  early: number;
}

export function usageJson(usage: ClaudeUsage, era: ClaudeEra, final: boolean): string {
  const cache = `"ephemeral_5m_input_tokens":${usage.cacheWrite - usage.cacheWrite1h},"ephemeral_1h_input_tokens":${usage.cacheWrite1h}`;
  const base = `"input_tokens":${usage.input},"cache_creation_input_tokens":${usage.cacheWrite},"cache_read_input_tokens":${usage.cacheRead}`;
  const output = final ? usage.output : usage.early;
  if (!era.rich) return `{${base},"cache_creation":{${cache}},"output_tokens":${output},"service_tier":"standard"}`;
  const iterations = final ? `{${base},"output_tokens":${output},"cache_creation":{${cache}},"type":"message"}` : '';
  return `{${base},"output_tokens":${output},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{${cache}},"inference_geo":"","iterations":[${iterations}],"speed":"standard"}`;
}

/** A reply that a sub agent has written to its file, as far as the parent's `progress` rows repeat it. */
export interface AgentReply {
  messageId: string;
  requestId: string;
  toolId: string;
  usage: string;
}

/** Under which session's name rows are written; copies of another session's rows have a view of their own. */
export interface ClaudeView {
  sessionId: string;
  /** Copied history: only transcript rows are copied, no titles, snapshots and the like. */
  copying?: boolean;
  forkedFrom?: string;
  requestSessionId?: string;
}

export interface ClaudePlace {
  cwd: string;
  branch: string;
  slug: string;
  /** Set in a sub agent's file. */
  agentId?: string;
}

/** Writes rows with the fields that all transcript rows share, and keeps the chain of their uuids. */
export class ClaudeRows {
  readonly sink: FileSink;
  readonly era: ClaudeEra;
  random: Random;
  /** Milliseconds; grows with every row. */
  now: number;
  parentUuid: string | null = null;
  lastUuid = '';
  readonly #place: ClaudePlace;
  #view!: ClaudeView;
  #common = '';

  constructor(sink: FileSink, era: ClaudeEra, random: Random, now: number, place: ClaudePlace, view: ClaudeView) {
    this.sink = sink;
    this.era = era;
    this.random = random;
    this.now = now;
    this.#place = place;
    this.view = view;
  }

  get view(): ClaudeView {
    return this.#view;
  }

  set view(view: ClaudeView) {
    this.#view = view;
    const { cwd, branch, slug, agentId } = this.#place;
    const { version, rich } = this.era;
    this.#common = `,"userType":"external"${rich ? ',"entrypoint":"cli"' : ''},"cwd":${JSON.stringify(cwd)},"sessionId":"${view.sessionId}","version":"${version}","gitBranch":${JSON.stringify(branch)}`;
    if (agentId !== undefined) this.#common += `,"agentId":"${agentId}"`;
    if (rich) this.#common += `,"slug":"${slug}"`;
  }

  timestamp(): string {
    return new Date(this.now).toISOString();
  }

  /** Begins a transcript row, up to its own fields. */
  begin(): void {
    const parent = this.parentUuid === null ? 'null' : `"${this.parentUuid}"`;
    const sidechain = this.#place.agentId !== undefined;
    this.sink.text(`{"parentUuid":${parent},"isSidechain":${sidechain}${this.era.rich ? '' : this.#common}`);
  }

  /** Ends it; the next row hangs on this one. */
  end(own = '', tail?: () => void): void {
    const uuid = this.random.uuid();
    this.sink.text(`${own},"uuid":"${uuid}","timestamp":"${this.timestamp()}"`);
    tail?.();
    if (this.era.rich) this.sink.text(this.#common);
    const { forkedFrom } = this.#view;
    if (forkedFrom !== undefined) this.sink.text(`,"forkedFrom":{"sessionId":"${forkedFrom}","messageUuid":"${uuid}"}`);
    this.sink.text('}');
    this.sink.endLine();
    this.parentUuid = uuid;
    this.lastUuid = uuid;
  }

  /** A row that is no part of the conversation: no uuid, no parent. */
  aside(fields: string): void {
    if (this.#view.copying) return;
    this.sink.text(`{${fields},"sessionId":"${this.#view.sessionId}"}`);
    this.sink.endLine();
  }

  wait(minMs: number, maxMs: number): void {
    this.now += this.random.int(minMs, maxMs);
  }
}

/** Stores with a history: sessions that grow, fork, are rewritten, cut and torn, step by step. */
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';

export type Agent = 'claude' | 'codex';

/** One step; `at` and `by` choose sessions and lines by remainder. */
export type Step =
  | {
      readonly kind: 'create' | 'fork' | 'branch' | 'tear' | 'mend' | 'seal' | 'same' | 'title' | 'repeat';
      readonly agent: Agent;
      readonly at: number;
      readonly by: number;
    }
  | { readonly kind: 'append'; readonly agent: Agent; readonly at: number; readonly by: number }
  | { readonly kind: 'drop' | 'cut' | 'vanish'; readonly agent: Agent; readonly at: number; readonly by: number }
  | { readonly kind: 'sync' };

const growing = [
  'create',
  'append',
  'append',
  'append',
  'branch',
  'tear',
  'mend',
  'seal',
  'same',
  'title',
  'repeat',
] as const;
const destructive = ['drop', 'cut', 'vanish'] as const;

const step = (kinds: readonly Exclude<Step['kind'], 'sync'>[]): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    agent: fc.constantFrom<Agent>('claude', 'codex'),
    at: fc.nat(1000),
    by: fc.nat(1000),
  }) as fc.Arbitrary<Step>;

const history = (kinds: readonly Exclude<Step['kind'], 'sync'>[]): fc.Arbitrary<Step[]> =>
  fc
    .array(
      fc.oneof({ weight: 4, arbitrary: step(kinds) }, { weight: 1, arbitrary: fc.constant<Step>({ kind: 'sync' }) }),
      { minLength: 6, maxLength: 40 },
    )
    // Without a session to begin with, half of the histories would be empty.
    .map((steps) => [
      { kind: 'create', agent: 'claude', at: 0, by: 0 },
      { kind: 'create', agent: 'codex', at: 0, by: 0 },
      ...steps,
    ]);

/** Histories in which nothing that was written is ever lost. */
export const growingHistory = history([...growing, 'fork']);
/** Histories in which records and files are lost; nothing is copied in them. */
export const losingHistory = history([...growing, ...destructive]);

interface Session {
  readonly id: string;
  readonly path: string;
  lines: string[];
  torn: string | null;
}

const uuid = (n: number, tag: string): string =>
  `${tag}${String(n).padStart(12 - tag.length, '0')}`.replace(/^(.*)$/, (s) => `00000000-0000-4000-8000-${s}`);
const timeOf = (n: number): string => new Date(Date.UTC(2026, 0, 5, 10) + n * 1000).toISOString();

export class World {
  readonly home: string;
  private readonly sessions: Record<Agent, Session[]> = { claude: [], codex: [] };
  private count = 0;

  constructor(home: string) {
    this.home = home;
    mkdirSync(join(home, '.claude', 'projects', '-p'), { recursive: true });
    mkdirSync(join(home, '.codex', 'sessions', '2026', '01', '05'), { recursive: true });
  }

  apply(change: Step): void {
    if (change.kind === 'sync') return;
    if (change.kind === 'create') this.create(change.agent);
    const list = this.sessions[change.agent];
    const session = list[change.at % Math.max(1, list.length)];
    if (session === undefined) return;
    switch (change.kind) {
      case 'append':
        this.append(session, this.turn(change.agent, session, change.by));
        return;
      case 'branch':
        this.append(session, this.branch(change.agent, session, change.by));
        return;
      case 'repeat':
        this.append(session, this.repeat(change.agent, session));
        return;
      case 'title':
        this.title(change.agent, session, change.by);
        return;
      case 'fork':
        this.fork(change.agent, session, change.by);
        return;
      case 'tear':
        this.tear(change.agent, session);
        return;
      case 'mend':
        this.mend(session);
        return;
      case 'seal':
        this.seal(session);
        return;
      case 'same':
        this.rewrite(session, session.lines);
        return;
      case 'drop':
        if (session.lines.length > 2)
          this.rewrite(
            session,
            session.lines.filter((_, i) => i !== 1 + (change.by % (session.lines.length - 1))),
          );
        return;
      case 'cut':
        this.rewrite(session, session.lines.slice(0, 1 + (change.by % session.lines.length)));
        return;
      case 'vanish':
        rmSync(session.path);
        this.sessions[change.agent].splice(this.sessions[change.agent].indexOf(session), 1);
    }
  }

  private create(agent: Agent): Session {
    const n = this.count++;
    const id = uuid(n, agent === 'claude' ? 'c' : 'd');
    const stamp = timeOf(n).slice(0, 19).replaceAll(':', '-');
    const path =
      agent === 'claude'
        ? join(this.home, '.claude', 'projects', '-p', `${id}.jsonl`)
        : join(this.home, '.codex', 'sessions', '2026', '01', '05', `rollout-${stamp}-${id}.jsonl`);
    const session: Session = { id, path, lines: [], torn: null };
    this.sessions[agent].push(session);
    this.append(session, agent === 'claude' ? this.turn(agent, session, 0) : [this.meta(id)]);
    return session;
  }

  private meta(id: string, parent?: string): string {
    const payload = {
      id,
      timestamp: timeOf(this.count),
      cwd: '/home/dev/app',
      originator: 'codex_cli_rs',
      cli_version: '0.98.0',
      source: 'cli',
    };
    return JSON.stringify({
      timestamp: timeOf(this.count++),
      type: 'session_meta',
      payload: parent === undefined ? payload : { ...payload, forked_from_id: parent },
    });
  }

  private append(session: Session, lines: readonly string[]): void {
    if (session.torn !== null || lines.length === 0) return;
    mkdirSync(dirname(session.path), { recursive: true });
    appendFileSync(session.path, lines.map((line) => `${line}\n`).join(''));
    session.lines.push(...lines);
  }

  private rewrite(session: Session, lines: readonly string[]): void {
    const temporary = `${session.path}.tmp`;
    writeFileSync(temporary, lines.map((line) => `${line}\n`).join(''));
    renameSync(temporary, session.path);
    session.lines = [...lines];
    session.torn = null;
  }

  private tear(agent: Agent, session: Session): void {
    if (session.torn !== null) return;
    const line = this.turn(agent, session, 1)[0]!;
    const half = Math.floor(line.length / 2);
    appendFileSync(session.path, line.slice(0, half));
    session.torn = line;
  }

  private mend(session: Session): void {
    if (session.torn === null) return;
    const half = Math.floor(session.torn.length / 2);
    appendFileSync(session.path, `${session.torn.slice(half)}\n`);
    session.lines.push(session.torn);
    session.torn = null;
  }

  private seal(session: Session): void {
    if (session.torn === null) return;
    appendFileSync(session.path, '\n');
    session.lines.push(session.torn.slice(0, Math.floor(session.torn.length / 2)));
    session.torn = null;
  }

  private claudeRow(session: Session, parent: string | null, rest: Record<string, unknown>): string {
    const n = this.count++;
    return JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      cwd: '/home/dev/app',
      sessionId: session.id,
      version: '2.1.30',
      gitBranch: 'main',
      ...rest,
      uuid: uuid(n, 'a'),
      timestamp: timeOf(n),
    });
  }

  private uuids(session: Session): string[] {
    return session.lines.flatMap((line) => /"uuid":"([^"]+)"/.exec(line)?.[1] ?? []);
  }

  private reply(id: string, output: number, block: Record<string, unknown>): Record<string, unknown> {
    const usage = {
      input_tokens: 4,
      cache_creation_input_tokens: 7,
      cache_read_input_tokens: 90,
      output_tokens: output,
    };
    return {
      type: 'assistant',
      requestId: `req_${id}`,
      message: {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [block],
        stop_reason: null,
        usage,
      },
    };
  }

  private turn(agent: Agent, session: Session, by: number): string[] {
    const n = this.count++;
    const text = ['plain', 'ünïcödé 漢字', 'line\u2028separator', 'a\nb'][n % 4]!;
    if (agent === 'codex') return this.codexTurn(n, text, by);
    const last = this.uuids(session).at(-1) ?? null;
    const user = this.claudeRow(session, last, { type: 'user', message: { role: 'user', content: `${text} ${n}` } });
    const uuidOf = (line: string): string => /"uuid":"([^"]+)"/.exec(line)![1]!;
    const first = this.claudeRow(
      session,
      uuidOf(user),
      this.reply(`${n}`, 1 + (n % 3), { type: 'text', text: `answer ${n} ${text}` }),
    );
    if (by % 3 === 0) return [user, first];
    const call = { type: 'tool_use', id: `toolu_${n}`, name: 'Bash', input: { command: 'ls' } };
    const second = this.claudeRow(session, uuidOf(first), this.reply(`${n}`, 20 + (n % 7), call));
    const result = {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${n}`, content: text }] },
    };
    return [user, first, second, this.claudeRow(session, uuidOf(second), result)];
  }

  private codexTurn(n: number, text: string, by: number): string[] {
    const line = (type: string, payload: unknown): string =>
      JSON.stringify({ timestamp: timeOf(this.count++), type, payload });
    const usage = {
      input_tokens: 100 + n,
      cached_input_tokens: 20,
      output_tokens: 10 + n,
      reasoning_output_tokens: 3,
      total_tokens: 110 + 2 * n,
    };
    const total = {
      input_tokens: 1000 * n,
      cached_input_tokens: 200 * n,
      output_tokens: 100 * n,
      reasoning_output_tokens: 30 * n,
      total_tokens: 1100 * n,
    };
    const counts = line('event_msg', {
      type: 'token_count',
      info: { total_token_usage: total, last_token_usage: usage },
      rate_limits: null,
    });
    const say = (role: string, type: string, words: string): string =>
      line('response_item', { type: 'message', role, content: [{ type, text: words }] });
    return [
      line('event_msg', { type: 'task_started', turn_id: `turn-${n}` }),
      line('turn_context', { turn_id: `turn-${n}`, cwd: '/home/dev/app', model: 'gpt-5.2-codex' }),
      say('user', 'input_text', `${text} ${n}`),
      say('assistant', 'output_text', `answer ${n}`),
      ...(by % 2 === 0
        ? []
        : [line('response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: `call_${n}` })]),
      counts,
      ...(by % 3 === 0 ? [counts] : []),
    ];
  }

  private branch(agent: Agent, session: Session, by: number): string[] {
    const n = this.count++;
    if (agent === 'codex')
      return [
        JSON.stringify({
          timestamp: timeOf(n),
          type: 'event_msg',
          payload: { type: 'thread_rolled_back', num_turns: by % 3 },
        }),
      ];
    const uuids = this.uuids(session);
    return [
      this.claudeRow(session, uuids[by % Math.max(1, uuids.length)] ?? null, {
        type: 'user',
        message: { role: 'user', content: `instead ${n}` },
      }),
    ];
  }

  /** A later row of a reply, with a greater output; of Codex, the last count once more. */
  private repeat(agent: Agent, session: Session): string[] {
    if (agent === 'codex') {
      const last = session.lines.findLast((line) => line.includes('"token_count"'));
      return last === undefined ? [] : [last];
    }
    const last = session.lines.findLast(
      (line) => line.includes('"assistant"') && line.startsWith('{') && line.endsWith('}'),
    );
    const id = last === undefined ? undefined : /"id":"msg_([^"]+)"/.exec(last)?.[1];
    if (id === undefined) return [];
    return [
      this.claudeRow(
        session,
        this.uuids(session).at(-1) ?? null,
        this.reply(id, 100 + (this.count % 50), { type: 'text', text: `more ${this.count}` }),
      ),
    ];
  }

  private title(agent: Agent, session: Session, by: number): void {
    if (agent === 'claude')
      this.append(session, [
        JSON.stringify({ type: 'custom-title', customTitle: `Title ${by}`, sessionId: session.id }),
      ]);
    else
      appendFileSync(
        join(this.home, '.codex', 'session_index.jsonl'),
        `${JSON.stringify({ id: session.id, thread_name: `Title ${by}`, updated_at: timeOf(by) })}\n`,
      );
  }

  private fork(agent: Agent, session: Session, by: number): void {
    if (session.torn !== null) return;
    const copied = session.lines.slice(0, 1 + (by % session.lines.length));
    const n = this.count++;
    if (agent === 'claude') {
      const id = uuid(n, 'f');
      const child: Session = { id, path: join(dirname(session.path), `${id}.jsonl`), lines: [], torn: null };
      this.sessions.claude.push(child);
      this.append(
        child,
        copied.filter((line) => line.endsWith('}')),
      );
      this.append(child, this.turn('claude', child, by));
      return;
    }
    const child = this.create('codex');
    if (existsSync(session.path))
      this.append(
        child,
        copied.filter((line) => line.endsWith('}')),
      );
    this.append(child, this.turn('codex', child, by));
  }
}

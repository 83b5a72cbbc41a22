/** Cases: stores with right answers, and how an answer is compared with what the command gives. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { projectFolder, type Row } from './command.ts';

interface ExpectedMessage {
  role: string;
  text?: string | null;
  timestamp?: string | null;
  thinking?: string | null;
  model?: string | null;
  meta?: boolean;
  active?: boolean;
}

type UsageColumn = 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h' | 'reasoning';

interface ExpectedSession {
  session_id: string;
  cwd?: string | null;
  title?: string | null;
  parent_session_id?: string | null;
  messages: ExpectedMessage[];
  tool_calls: { name: string | null; call_id: string | null }[];
  tool_results: { call_id: string | null; is_error: boolean | null }[];
  usage_total?: Partial<Record<UsageColumn, number | null>> | null;
  /** Rounded figures that the agent prints: never in the ledger. */
  usage_estimate?: { sent: number; received: number } | null;
}

export interface Expected {
  agent: string;
  case: string;
  why: string;
  env?: Record<string, string>;
  roots?: string[];
  args?: string[];
  sessions: ExpectedSession[];
  read?: { source: string; status: string; line_errors: number }[];
}

export interface Case {
  readonly agent: string;
  readonly name: string;
  readonly store: string;
  readonly expected: Expected;
}

/** The cases of the fixtures folder, by agent and name. */
export function casesOf(fixtures = join(projectFolder, 'fixtures')): Case[] {
  return readdirSync(fixtures, { withFileTypes: true })
    .filter((agent) => agent.isDirectory())
    .flatMap((agent) =>
      readdirSync(join(fixtures, agent.name))
        .map((name) => join(fixtures, agent.name, name))
        .filter((folder) => existsSync(join(folder, 'expected.json')))
        .map((folder) => {
          const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Expected;
          return { agent: agent.name, name: expected.case, store: join(folder, 'store'), expected };
        }),
    );
}

const placed = (text: string, store: string): string => text.replaceAll('{store}', store);

export function environmentOf(expected: Expected, store: string): Record<string, string> {
  return Object.fromEntries(Object.entries(expected.env ?? {}).map(([key, value]) => [key, placed(value, store)]));
}

export function argumentsOf(expected: Expected, store: string): string[] {
  const roots = (expected.roots ?? []).flatMap((root) => ['--root', `${expected.agent}=${placed(root, store)}`]);
  return ['--agent', expected.agent, ...roots, ...(expected.args ?? []).map((arg) => placed(arg, store))];
}

/** The newest row of every event, in order of first sight; usage rows are postings and all stay. */
export function newest(rows: readonly Row[]): Row[] {
  const byKey = new Map<string, Row>();
  rows.forEach((row, i) => {
    const key =
      row.record === 'session'
        ? `session ${row['agent']} ${row['session_id']}`
        : row.record === 'source'
          ? `source ${row['source_id']}`
          : row.record === 'usage' || row['event_id'] === undefined
            ? `row ${i}`
            : `${row.record} ${row['event_id']}`;
    const before = byKey.get(key);
    const order = (r: Row): number => Number(r['generation'] ?? 0) * 1e6 + Number(r['revision'] ?? 0);
    if (before === undefined || order(row) >= order(before)) byKey.set(key, row);
  });
  return [...byKey.values()];
}

const empty = (value: unknown): unknown => (value === '' || value === undefined ? null : value);

const message = (m: ExpectedMessage | Row, meta: boolean): Record<string, unknown> => ({
  role: m['role' as keyof typeof m],
  text: empty(m['text' as keyof typeof m]),
  timestamp: empty(m['timestamp' as keyof typeof m]),
  thinking: empty(m['thinking' as keyof typeof m]),
  meta,
});

const sorted = (rows: Record<string, unknown>[]): string[] => rows.map((row) => JSON.stringify(row)).sort();

function sums(rows: readonly Row[], asked: readonly UsageColumn[]): Partial<Record<UsageColumn, number | null>> {
  return Object.fromEntries(
    asked.map((column) => {
      const values = rows.map((row) => row[`counted_${column}_tokens`]).filter((v) => typeof v === 'number');
      return [column, values.length === 0 ? null : values.reduce((a, b) => a + b, 0)];
    }),
  );
}

function compareMessages(session: ExpectedSession, rows: readonly Row[]): void {
  const all = rows
    .filter((row) => row.record === 'message')
    .filter((row) => empty(row['text']) !== null || empty(row['thinking']) !== null)
    .sort((a, b) => Number(a['ordinal']) - Number(b['ordinal']));
  // An answer lists copies or leaves them out; which, its number of messages shows.
  const own = all.filter((row) => row['is_copy'] === false);
  const told = own.length === session.messages.length ? own : all;
  for (const active of [true, false]) {
    const expected = session.messages.filter((m) => (m.active !== false) === active);
    const got = told.filter((row) => row['is_active'] === active);
    expect(
      got.map((row) => message(row, row['is_meta'] === true)),
      `messages of ${session.session_id}, ${active ? 'live' : 'abandoned'}`,
    ).toEqual(expected.map((m) => message(m, m.meta === true)));
    expected.forEach((m, i) => {
      if (m.model !== undefined)
        expect(got[i]!['model'], `model of message ${i} of ${session.session_id}`).toBe(m.model);
    });
  }
}

function compareSession(session: ExpectedSession, rows: readonly Row[]): void {
  const own = rows.filter((row) => row['session_id'] === session.session_id);
  const head = own.filter((row) => row.record === 'session');
  expect(head.length, `rows of session ${session.session_id}`).toBe(1);
  for (const column of ['cwd', 'title', 'parent_session_id'] as const) {
    if (session[column] !== undefined)
      expect(head[0]![column], `${column} of ${session.session_id}`).toBe(session[column]);
  }
  if (session.usage_estimate !== undefined && session.usage_estimate !== null) {
    const { reported_input_tokens: sent, reported_output_tokens: received } = head[0]!;
    expect({ sent, received }, `figures printed for ${session.session_id}`).toEqual(session.usage_estimate);
  }
  compareMessages(session, own);
  const of = (record: string): Row[] => {
    const all = own.filter((row) => row.record === record);
    const native = all.filter((row) => row['is_copy'] === false);
    const asked = record === 'tool_call' ? session.tool_calls : session.tool_results;
    return native.length === asked.length ? native : all;
  };
  expect(sorted(of('tool_call').map((r) => ({ name: r['name'], call_id: r['call_id'] })))).toEqual(
    sorted(session.tool_calls.map((c) => ({ name: c.name, call_id: c.call_id }))),
  );
  expect(sorted(of('tool_result').map((r) => ({ call_id: r['call_id'], is_error: r['is_error'] })))).toEqual(
    sorted(session.tool_results.map((c) => ({ call_id: c.call_id, is_error: c.is_error }))),
  );
  const usage = own.filter((row) => row.record === 'usage');
  if (session.usage_total === null) expect(usage, `usage of ${session.session_id}`).toEqual([]);
  else if (session.usage_total !== undefined) {
    const asked = Object.keys(session.usage_total) as UsageColumn[];
    expect(sums(usage, asked), `usage of ${session.session_id}`).toEqual(session.usage_total);
  }
}

/** Compares rows with the right answer, as the cases define it. `store` is where the copy that was read stands. */
export function compareCase(answer: Expected, told: readonly Row[], store: string): void {
  const expected = JSON.parse(placed(JSON.stringify(answer), store)) as Expected;
  const rows = newest(told);
  const sessions = rows.filter((row) => row.record === 'session').map((row) => row['session_id']);
  expect(sessions.sort()).toEqual(expected.sessions.map((s) => s.session_id).sort());
  for (const session of expected.sessions) compareSession(session, rows);
  for (const read of expected.read ?? []) {
    const found = rows.filter(
      (row) => row.record === 'source' && relative(store, String(row['source_path'])) === read.source,
    );
    expect(found.length, `rows of source ${read.source}`).toBeGreaterThan(0);
    // The sessions of a database are sources of one path: together they are what the answer says of it.
    const errors = found.reduce((n, row) => n + Number(row['line_errors']), 0);
    const statuses = [...new Set(found.map((row) => row['status']))];
    const told = statuses.length === 1 ? statuses : statuses.filter((status) => status !== 'complete');
    expect({ statuses: told, line_errors: errors }, `reading of ${read.source}`).toEqual({
      statuses: [read.status],
      line_errors: read.line_errors,
    });
  }
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MessageFields } from '../../../src/agents/agent.ts';
import {
  cutsOf,
  decode,
  decodeCut,
  NOTHING,
  type Recording,
  type Row,
  readStore,
  type UsageTotal,
  usageTotal,
} from './driver.ts';

interface ExpectedMessage {
  role: string;
  text: string | null;
  timestamp: string | null;
  model?: string | null;
  thinking: string | null;
  meta?: boolean;
  active?: boolean;
}
interface ExpectedSession {
  session_id: string;
  cwd: string | null;
  title: string | null;
  parent_session_id: string | null;
  messages: ExpectedMessage[];
  tool_calls: { name: string; call_id: string }[];
  tool_results: { call_id: string; is_error: boolean | null }[];
  usage_total: UsageTotal | null;
}
interface Expected {
  sessions: ExpectedSession[];
  read: { source: string; status: string; line_errors: number }[];
}

const FIXTURES = join(import.meta.dirname, '../../../fixtures/codex');
const cases = readdirSync(FIXTURES);
const expectedOf = (name: string): Expected => JSON.parse(readFileSync(join(FIXTURES, name, 'expected.json'), 'utf8'));
const blankToNull = (text: string | null): string | null => (text === '' ? null : text);

const asExpected = (row: Row<MessageFields>): ExpectedMessage => ({
  role: row.role ?? '',
  text: row.text as string | null,
  timestamp: row.at.timestamp === null ? null : new Date(row.at.timestamp).toISOString(),
  model: row.model,
  thinking: row.thinking as string | null,
  ...(row.is_meta ? { meta: true } : {}),
  ...(row.is_active ? {} : { active: false }),
});

const byCall = (a: { call_id: string | null }, b: { call_id: string | null }): number =>
  (a.call_id ?? '') < (b.call_id ?? '') ? -1 : 1;

/** What the recordings of one session say, in the spelling of the answers. */
function sessionOf(id: string, recordings: readonly Recording[]): ExpectedSession {
  const own = recordings.filter((out) => out.sessions.some((session) => session.session_id === id));
  const session = own[0]?.sessions[0];
  const messages = own
    .flatMap((out) => out.messages)
    .filter((row) => !row.is_copy && (row.text ?? row.thinking) !== null);
  return {
    session_id: id,
    cwd: session?.cwd ?? null,
    title: (session?.title ?? null) as string | null,
    parent_session_id: session?.parent_session_id ?? null,
    messages: messages.map(asExpected),
    tool_calls: own
      .flatMap((out) => out.calls)
      .filter((row) => !row.is_copy)
      .map((row) => ({ name: row.name ?? '', call_id: row.call_id ?? '' }))
      .sort(byCall),
    tool_results: own
      .flatMap((out) => out.results)
      .filter((row) => !row.is_copy)
      .map((row) => ({ call_id: row.call_id ?? '', is_error: row.is_error }))
      .sort(byCall),
    usage_total: usageTotal(own.flatMap((out) => out.observations)),
  };
}

const withNulls = (session: ExpectedSession): ExpectedSession => ({
  ...session,
  messages: session.messages.map((message) => ({
    ...message,
    text: blankToNull(message.text),
    thinking: blankToNull(message.thinking),
  })),
  tool_calls: [...session.tool_calls].sort(byCall),
  tool_results: [...session.tool_results].sort(byCall),
});

describe.each(cases)('%s', (name) => {
  const expected = expectedOf(name);
  const root = join(FIXTURES, name, 'store');
  const read = readStore(root);
  const recordings = [...read.recordings.values()];

  test('the store reads as its answers say', () => {
    const ids = [...new Set(recordings.flatMap((out) => out.sessions.map((session) => session.session_id)))].sort();
    expect(ids).toEqual(expected.sessions.map((session) => session.session_id).sort());
    for (const session of expected.sessions)
      expect(sessionOf(session.session_id, recordings)).toEqual(withNulls(session));
  });

  test('each source ends with the line errors that its answer lists', () => {
    for (const { source, line_errors } of expected.read) {
      const one = read.all.find((candidate) => read.names.get(candidate) === source);
      expect(one, source).toBeDefined();
      if (one !== undefined) expect(read.recordings.get(one)?.lineErrors).toBe(line_errors);
    }
  });

  test('reading on at any line boundary gives the rows of one read', () => {
    for (const one of read.all) {
      if (one.source.storeKind !== 'codex-jsonl') continue;
      const whole = decode(one, read.kin.get(one)).newest();
      for (const cut of cutsOf(one.bytes))
        expect(decodeCut(one, read.kin.get(one), cut).out.newest(), `cut at ${cut.ordinal}`).toEqual(whole);
    }
  });

  test('rows and ids are the same whatever else is asked for', () => {
    for (const one of read.all) {
      const whole = read.recordings.get(one);
      const kin = read.kin.get(one);
      expect(decode(one, kin, { ...NOTHING, usage: true }).observations).toEqual(whole?.observations);
      expect(decode(one, kin, { ...NOTHING, messages: true }).messages).toEqual(whole?.messages);
      expect(decode(one, kin, { ...NOTHING, tool_calls: true }).calls).toEqual(whole?.calls);
      expect(decode(one, kin, { ...NOTHING, tool_results: true }).results).toEqual(whole?.results);
      expect(decode(one, kin, { ...NOTHING, sessions: true }).sessions).toEqual(whole?.sessions);
      expect(decode(one, kin, { ...NOTHING, usage: true }).lineErrors).toBe(whole?.lineErrors);
    }
  });

  test('event ids are unique within a table', () => {
    for (const table of ['messages', 'calls', 'results', 'observations'] as const) {
      const ids = recordings.flatMap((out) => (out[table] as { id: string }[]).map((row) => row.id));
      expect(new Set(ids).size, table).toBe(ids.length);
    }
  });

  test('no type of the store is unknown', () => {
    for (const out of recordings) expect(out.unknownTypes).toEqual({});
  });
});

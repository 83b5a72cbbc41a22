/** The cases with right answers, and two promises that every one of them must keep. */
import { relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claude } from '../../../src/agents/claude/index.ts';
import type { Row } from '../../support/command.ts';
import { casesOf, compareCase } from '../../support/corpus.ts';
import {
  ALL,
  counted,
  cutsOf,
  kinshipsOf,
  NONE,
  type Recording,
  read,
  readAll,
  readInTwo,
  type Source,
  sourcesBelow,
} from './driver.ts';

const cases = casesOf().filter((c) => c.agent === 'claude');
const rootsOf = (store: string, env: Record<string, string> = {}): string[] => {
  const placed = Object.fromEntries(
    Object.entries(env).map(([key, value]) => [key, value.replaceAll('{store}', store)]),
  );
  return claude.roots({ env: placed, home: `${store}/nobody`, platform: 'linux' }).map(({ path }) => path);
};
const sourcesOf = (store: string, env?: Record<string, string>): Source[] =>
  sourcesBelow(...rootsOf(store, env)).filter(({ spec }) => spec.storeKind === 'claude-session');

const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

/** Rows as the command would write them, as far as the answers ask. */
function rowsOf(sources: readonly Source[], recordings: readonly Recording[]): Row[] {
  const countedIds = new Set(counted(recordings));
  return recordings.flatMap((recording, index) => {
    const { spec, bytes } = sources[index]!;
    const row = (
      record: string,
      told: {
        id: string;
        at: { sessionId: string; timestamp: number | null; position: { ordinal: number } };
        fields: object;
      },
    ): Row => ({
      record,
      event_id: told.id,
      session_id: told.at.sessionId,
      ordinal: told.at.position.ordinal,
      timestamp: iso(told.at.timestamp),
      ...told.fields,
    });
    const torn = bytes.length > 0 && bytes.at(-1) !== 0x0a;
    const status = recording.errors.length > 0 ? 'complete_with_errors' : torn ? 'incomplete_tail' : 'complete';
    return [
      ...recording.sessions.map((session): Row => ({ record: 'session', ...session })),
      ...recording.messages.map((told) => row('message', told)),
      ...recording.calls.map((told) => row('tool_call', told)),
      ...recording.results.map((told) => row('tool_result', told)),
      ...recording.observations.map((told) => {
        const {
          input_tokens,
          output_tokens,
          cache_read_tokens,
          cache_write_tokens,
          cache_write_1h_tokens,
          reasoning_tokens,
        } = told.fields;
        const count = (value: number | null): number | null =>
          value === null ? null : countedIds.has(told) ? value : 0;
        return {
          ...row('usage', told),
          counted_input_tokens: count(input_tokens),
          counted_output_tokens: count(output_tokens),
          counted_cache_read_tokens: count(cache_read_tokens),
          counted_cache_write_tokens: count(cache_write_tokens),
          counted_cache_write_1h_tokens: count(cache_write_1h_tokens),
          counted_reasoning_tokens: count(reasoning_tokens),
        };
      }),
      { record: 'source', source_id: spec.path, source_path: spec.path, status, line_errors: recording.errors.length },
    ];
  });
}

/** What stands of a source when later rows have replaced earlier ones of the same event. */
function standing(...recordings: Recording[]): unknown {
  const newest = (told: readonly { id: string }[]): unknown[] =>
    [...new Map(told.map((row) => [row.id, row])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    messages: newest(recordings.flatMap((r) => r.messages)),
    calls: newest(recordings.flatMap((r) => r.calls)),
    results: newest(recordings.flatMap((r) => r.results)),
    usage: newest(recordings.flatMap((r) => r.observations)),
    session: recordings.at(-1)!.sessions,
    errors: recordings.flatMap((r) => r.errors),
  };
}

test('all cases are there', () => {
  expect(cases.length).toBeGreaterThanOrEqual(8);
});

describe.each(cases.map((c) => [c.name, c] as const))('%s', (_, { store, expected }) => {
  const sources = sourcesOf(store, expected.env);
  const kinships = kinshipsOf(sources);

  test('gives the right answer', () => {
    compareCase(expected, rowsOf(sources, readAll(sources)), store);
  });

  test('nothing but the sources of the answer is read', () => {
    const found = sources.map(({ spec }) => relative(store, spec.path)).sort();
    expect(found).toEqual(expected.read?.map(({ source }) => source).sort());
  });

  test('a file read in two runs, cut after any line, gives what it gives in one', () => {
    let resumed = 0;
    sources.forEach((source, index) => {
      const options = kinships[index] ? { kinship: kinships[index] } : {};
      const whole = standing(read(source, options).recording);
      for (const cut of cutsOf(source.bytes)) {
        const parts = readInTwo(source, cut, options);
        if (parts === null) continue;
        resumed++;
        expect(standing(parts.first, parts.second), `${source.spec.name} cut at byte ${cut.byte}`).toEqual(whole);
      }
    });
    expect(resumed).toBeGreaterThan(sources.length);
  });

  test('each table alone gives the rows that it gives among all', () => {
    const all = readAll(sources, ALL);
    const alone = (table: keyof typeof ALL): Recording[] => readAll(sources, { ...NONE, [table]: true });
    expect(alone('messages').map((r) => r.messages)).toEqual(all.map((r) => r.messages));
    expect(alone('tool_calls').map((r) => r.calls)).toEqual(all.map((r) => r.calls));
    expect(alone('tool_results').map((r) => r.results)).toEqual(all.map((r) => r.results));
    expect(alone('usage').map((r) => r.observations)).toEqual(all.map((r) => r.observations));
    expect(alone('sessions').map((r) => r.sessions)).toEqual(all.map((r) => r.sessions));
  });
});

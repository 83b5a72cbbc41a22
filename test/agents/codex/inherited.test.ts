import { describe, expect, test } from 'vitest';
import { decode, type Loaded, made, type Recording, resolveAll, usageTotal } from './driver.ts';
import {
  assistant,
  CHILD,
  count,
  event,
  item,
  line,
  meta,
  PARENT,
  paginated,
  record,
  task,
  time,
  turn,
  user,
  vector,
} from './lines.ts';

const FIRST = count(vector(5000, 1000, 100), vector(5000, 1000, 100));
const SECOND = count(vector(11_000, 6000, 250), vector(6000, 5000, 150));
const HISTORY = [
  task('p1'),
  turn('p1', 'model-p'),
  user('plan'),
  assistant('planned'),
  item('function_call', { name: 'shell', arguments: '{}', call_id: 'call_p' }),
  item('function_call_output', { call_id: 'call_p', output: 'ok' }),
  FIRST,
  task('p2'),
  turn('p2', 'model-p'),
  user('begin'),
  assistant('begun'),
  SECOND,
];
const OWN = [
  task('c1', 60),
  user('<environment_context>\n</environment_context>', {}, 60),
  turn('c1', 'model-c', 60),
  user('other way', {}, 60),
  SECOND,
  assistant('done', {}, 61),
  count(vector(18_000, 12_000, 300), vector(7000, 6000, 50), 61),
];
const parent = made(PARENT, [meta(PARENT), ...HISTORY]);
const fork = (lines: readonly unknown[], header: Record<string, unknown> = { forked_from_id: PARENT }): Loaded =>
  made(CHILD, [meta(CHILD, header), ...lines]);

/** Reads the last store given, beside the others. */
function readBeside(one: Loaded, ...others: Loaded[]): Recording {
  const kin = resolveAll([...others, one]);
  return decode(one, kin.get(one));
}
const own = (out: Recording): unknown[] => out.messages.filter((row) => !row.is_copy).map((row) => row.text);
const copied = (out: Recording): unknown[] => out.messages.filter((row) => row.is_copy).map((row) => row.text);
const inputOf = (out: Recording): number | null => usageTotal(out.observations)?.input ?? null;

describe('rule 1: history_base', () => {
  test('the file holds only own lines, even where a second header and parent turns follow', () => {
    const base = { thread_id: PARENT, end_ordinal_exclusive: 4, end_byte_offset: 99 };
    const out = readBeside(fork([meta(PARENT), ...HISTORY], { forked_from_id: PARENT, history_base: base }), parent);
    expect(copied(out)).toEqual([]);
    expect(inputOf(out)).toBe(5000);
    expect(out.sessions[0]?.kind).toBe('fork');
  });

  test('an empty base is none', () => {
    const out = readBeside(
      fork([meta(PARENT), ...HISTORY, ...OWN], { forked_from_id: PARENT, history_base: null }),
      parent,
    );
    expect(own(out)).toEqual(['<environment_context>\n</environment_context>', 'other way', 'done']);
  });
});

describe('rule 2: subagent_history_start_ordinal', () => {
  const child = (start: unknown, second = PARENT): Loaded => {
    const header = { parent_thread_id: PARENT, subagent_history_start_ordinal: start };
    return made(CHILD, paginated([meta(CHILD, header), meta(second), ...HISTORY, ...OWN]));
  };

  test('lines below the ordinal are copies, whatever their turns say', () => {
    const out = readBeside(child(11), made(PARENT, [meta(PARENT), task('other')]));
    expect(copied(out)).toEqual(['plan', 'planned']);
    expect(own(out)[0]).toBe('begin');
    expect(inputOf(out)).toBe(1000 + 1000);
  });

  test('the number may be written in digits', () => {
    expect(copied(readBeside(child('11'), parent))).toEqual(['plan', 'planned']);
  });

  test('the second header may name any other thread', () => {
    expect(copied(readBeside(child(11, 'stranger')))).toEqual(['plan', 'planned']);
  });

  test('a number beyond the last line bounds nothing: the parent’s turns decide', () => {
    const length = 2 + HISTORY.length + OWN.length;
    expect(own(readBeside(child(length), parent))).toEqual([
      '<environment_context>\n</environment_context>',
      'other way',
      'done',
    ]);
    expect(own(readBeside(child(length - 1), parent))).toEqual([]);
  });

  test('without a second header the number is ignored', () => {
    const header = { parent_thread_id: PARENT, subagent_history_start_ordinal: 3 };
    const out = readBeside(made(CHILD, paginated([meta(CHILD, header), ...HISTORY])), parent);
    expect(copied(out)).toEqual([]);
    expect(inputOf(out)).toBe(5000);
  });
});

describe('rule 3: the parent’s header directly after the own', () => {
  test('copies end at the first turn that the parent does not hold; context before its turn_context is own', () => {
    const out = readBeside(fork([meta(PARENT), ...HISTORY, ...OWN]), parent);
    expect(copied(out)).toEqual(['plan', 'planned', 'begin', 'begun']);
    expect(own(out)).toEqual(['<environment_context>\n</environment_context>', 'other way', 'done']);
    expect(out.calls.map((row) => row.is_copy)).toEqual([true]);
    expect(out.results.map((row) => row.is_copy)).toEqual([true]);
    expect(usageTotal(out.observations)).toMatchObject({ input: 1000, cache_read: 6000, output: 50 });
  });

  test('a shorter prefix, with lines left out, is a copy as well', () => {
    const some = HISTORY.filter((_, i) => i < 7 && i !== 4 && i !== 5);
    const out = readBeside(fork([meta(PARENT), ...some, ...OWN]), parent);
    expect(copied(out)).toEqual(['plan', 'planned']);
    expect(inputOf(out)).toBe(1000 + 1000);
  });

  test('a turn_context alone can end the copies', () => {
    const out = readBeside(fork([meta(PARENT), ...HISTORY, turn('c1', 'model-c'), assistant('done')]), parent);
    expect(own(out)).toEqual(['done']);
    expect(out.messages.at(-1)?.model).toBe('model-c');
  });

  test('models of copied turns are not those of own answers', () => {
    const out = readBeside(fork([meta(PARENT), ...HISTORY, task('c1'), assistant('bare')]), parent);
    expect(out.messages.map((row) => [row.text, row.model])).toContainEqual(['planned', 'model-p']);
    expect(out.messages.map((row) => [row.text, row.model])).toContainEqual(['bare', null]);
  });

  test('without turn ids copies end at the first payload that the parent does not hold', () => {
    const old = [user('plan', {}, 1), assistant('planned', {}, 2), FIRST];
    const restamped = old.map((one) => ({ ...one, timestamp: '2026-01-02T00:00:00.000Z' }));
    const lines = [meta(PARENT), ...restamped, user('other way'), assistant('planned'), SECOND];
    const out = readBeside(fork(lines), made(PARENT, [meta(PARENT), ...old]));
    expect(copied(out)).toEqual(['plan', 'planned']);
    expect(own(out)).toEqual(['other way', 'planned']);
    expect(inputOf(out)).toBe(1000);
  });

  test('a fork of a fork ends its copies by its own parent’s file', () => {
    const middle = fork([meta(PARENT), ...HISTORY, ...OWN]);
    const id = '019b3000-0000-7000-8000-0000000000cc';
    const lines = [
      meta(id, { forked_from_id: CHILD }),
      meta(CHILD),
      meta(PARENT),
      ...HISTORY,
      ...OWN,
      task('g1'),
      user('third'),
    ];
    const out = readBeside(made(id, lines), parent, middle);
    expect(own(out)).toEqual(['third']);
    expect(out.observations).toEqual([]);
  });

  test('equal vectors in two siblings are two replies', () => {
    const siblings = ['b1', 'b2'].map((end) =>
      made(CHILD.slice(0, -2) + end, [meta(CHILD.slice(0, -2) + end, { parent_thread_id: PARENT }), ...OWN]),
    );
    const kin = resolveAll([parent, ...siblings]);
    const seen = new Set<string>();
    const inputs = siblings.map((one) => usageTotal(decode(one, kin.get(one)).observations, seen)?.input);
    expect(inputs).toEqual([2000, 2000]);
  });

  test('copied usage records are left out by their thread', () => {
    const lines = [
      meta(PARENT),
      ...HISTORY,
      record(PARENT, 'resp_p', vector(9, 0, 9)),
      task('c1'),
      record(CHILD, 'resp_c', vector(4, 0, 1)),
    ];
    expect(readBeside(fork(lines), parent).observations.map((o) => o.key)).toEqual(['resp_c']);
  });

  test('older forks whose header names no parent are forks where the parent’s file proves it', () => {
    const lines = [meta(PARENT), ...HISTORY, ...OWN];
    expect(inputOf(readBeside(fork(lines, {}), parent))).toBe(1000);
    expect(copied(readBeside(fork(lines, {})))).toEqual([]);
  });

  test('a second header of a thread that is not the parent copies nothing', () => {
    const stranger = made('stranger', [meta('stranger'), ...HISTORY]);
    const out = readBeside(fork([meta('stranger'), ...HISTORY]), parent, stranger);
    expect(copied(out)).toEqual([]);
    expect(inputOf(out)).toBe(5000);
  });

  test('the copies end as well where the parent was itself imported', () => {
    const imported = [task('external-import-turn-1'), user('claude, fix it')];
    const lines = [meta(PARENT), ...imported, turn('c1', 'model-c'), user('now you')];
    const out = readBeside(fork(lines), made(PARENT, [meta(PARENT), ...imported]));
    expect(copied(out)).toEqual(['claude, fix it']);
    expect(own(out)).toEqual(['now you']);
  });
});

describe('rule 3 without the parent’s file', () => {
  test('lines stay own, and their totals are only a baseline, until a turn made after the thread', () => {
    const old = '019b1000-1111-7000-8000-000000000001';
    const fresh = '019b2000-1111-7000-8000-000000000002';
    const lines = [meta(PARENT), task(old), user('plan'), FIRST, task(fresh), user('other way'), SECOND];
    const out = readBeside(fork(lines));
    expect(own(out)).toEqual(['plan', 'other way']);
    expect(usageTotal(out.observations)).toMatchObject({ input: 1000, cache_read: 5000, output: 150 });
    expect(out.issues).toEqual(['parent_missing']);
  });

  test('where ids tell no time, a turn after a pause is the first own one', () => {
    const out = readBeside(fork([meta(PARENT), ...HISTORY, ...OWN]));
    expect(copied(out)).toEqual([]);
    expect(usageTotal(out.observations)).toMatchObject({ input: 1000, cache_read: 6000, output: 50 });
  });

  test('a line older than the thread is no sign of it, however long the pause before', () => {
    const early = HISTORY.map((one, i) => ({ ...one, timestamp: `2025-12-31T0${i < 7 ? 1 : 2}:00:00.000Z` }));
    const out = readBeside(fork([meta(PARENT), ...early, ...OWN]));
    expect(usageTotal(out.observations)).toMatchObject({ input: 1000, cache_read: 6000, output: 50 });
  });

  test('a pause within a turn is no sign', () => {
    const slow = HISTORY.map((one, i) => ({ ...one, timestamp: time(i < 10 ? 1 : 30) }));
    const out = readBeside(fork([meta(PARENT), ...slow, ...OWN]));
    expect(usageTotal(out.observations)).toMatchObject({ input: 1000, cache_read: 6000, output: 50 });
  });

  test('an event that names the thread is its own', () => {
    const settings = event('thread_settings_applied', { thread_id: CHILD, thread_settings: { model: 'model-c' } });
    const out = readBeside(
      fork([meta(PARENT), ...HISTORY, settings, count(vector(12_000, 6000, 260), vector(1000, 0, 10))]),
    );
    expect(usageTotal(out.observations)).toMatchObject({ input: 1000, output: 10 });
  });
});

describe('rule 4: imported turns', () => {
  const IMPORT = [
    task('external-import-turn-1'),
    user('claude, fix it'),
    assistant('fixed'),
    count({ ...vector(0, 0, 0), total_tokens: 900 }, { ...vector(0, 0, 0), total_tokens: 900 }),
    task('external-import-turn-2'),
    assistant('<EXTERNAL SESSION IMPORTED>'),
  ];
  const out = readBeside(made(CHILD, [meta(CHILD), ...IMPORT, task('t1'), turn('t1'), user('now you'), FIRST]));

  test('they are copies without usage, and the thread goes on natively after them', () => {
    expect(copied(out)).toEqual(['claude, fix it', 'fixed', '<EXTERNAL SESSION IMPORTED>']);
    expect(own(out)).toEqual(['now you']);
    expect(usageTotal(out.observations)).toMatchObject({ input: 4000, cache_read: 1000, output: 100 });
  });

  test('a turn id that holds the words elsewhere is no import', () => {
    expect(copied(readBeside(made(CHILD, [meta(CHILD), task('x-external-import-turn-1'), user('hi')])))).toEqual([]);
  });
});

describe('rule 5', () => {
  test('forked_from_id alone copies nothing, and counters from zero count in full', () => {
    const out = readBeside(fork([...HISTORY]), parent);
    expect(copied(out)).toEqual([]);
    expect(inputOf(out)).toBe(5000);
    expect(out.sessions[0]).toMatchObject({ parent_session_id: PARENT, kind: 'fork' });
  });

  test('a second header further down copies nothing', () => {
    expect(copied(readBeside(fork([line('world_state', {}), meta(PARENT), ...HISTORY]), parent))).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { decode, made, NOTHING, usageTotal } from './driver.ts';
import { assistant, count, event, line, meta, PARENT, record, turn, user, vector } from './lines.ts';

const START = [meta(PARENT), turn('t1'), user('go')];
const usageOf = (lines: readonly unknown[]) => decode(made(PARENT, [...START, ...lines]));
const totalOf = (lines: readonly unknown[]) => usageTotal(usageOf(lines).observations);

describe('token_count', () => {
  test('a line with an unchanged total adds nothing, however often it is repeated', () => {
    const first = count(vector(1000, 200, 50), vector(1000, 200, 50));
    const second = count(vector(3000, 1200, 80), vector(2000, 1000, 30));
    const out = usageOf([first, first, first, second, second]);
    expect(out.observations).toHaveLength(2);
    expect(usageTotal(out.observations)).toMatchObject({ input: 1800, cache_read: 1200, output: 80 });
  });

  test('two totals that differ in one field only are two replies', () => {
    const a = { ...vector(1000, 200, 50), total_tokens: 1050 };
    const b = { ...vector(1000, 201, 50), total_tokens: 1050 };
    expect(usageOf([count(a, vector(1000, 200, 50)), count(b, vector(10, 1, 5))]).observations).toHaveLength(2);
  });

  test('without a last vector the growth of the total counts', () => {
    const out = usageOf([count(vector(1000, 200, 50)), count(vector(1500, 600, 70, 5))]);
    expect(out.observations.map((o) => [o.input_tokens, o.cache_read_tokens, o.output_tokens, o.basis])).toEqual([
      [1000, 200, 50, 'cumulative_delta'],
      [500, 400, 20, 'cumulative_delta'],
    ]);
  });

  test('a total that fell in any field began anew and counts in full', () => {
    const out = usageOf([count(vector(1000, 200, 50)), count(vector(1200, 100, 60))]);
    expect(out.observations[1]).toMatchObject({ input_tokens: 1200, cache_read_tokens: 100, output_tokens: 60 });
  });

  test('a first total beyond the last vector holds a baseline: only the last reply counts', () => {
    expect(totalOf([count(vector(90_000, 50_000, 700), vector(1000, 900, 10))])).toMatchObject({
      input: 100,
      cache_read: 900,
      output: 10,
    });
  });

  test('vectors with only a total are no usage: the estimate after a compaction, an overflown window', () => {
    const only = (total: number) => ({ ...vector(0, 0, 0), total_tokens: total });
    const out = usageOf([
      count(vector(1000, 0, 50), vector(1000, 0, 50)),
      count(vector(1000, 0, 50), only(4000)),
      count(only(272_000), only(271_000)),
      count({ ...vector(30, 5, 3), total_tokens: 272_033 }, vector(30, 5, 3)),
      count({ total_tokens: 9 }),
    ]);
    expect(out.observations).toHaveLength(2);
    expect(usageTotal(out.observations)).toMatchObject({ input: 1025, cache_read: 5, output: 53 });
  });

  test.each([
    ['a total that is no object', count('many', vector(1000, 200, 50)), 1],
    ['a counter that is a text', count(vector(1000, 200, 50), { input_tokens: '9', output_tokens: 3 }), 1],
    ['a list in place of both', event('token_count', { info: [] }), 0],
    ['a usage record whose counters are a list', record(PARENT, 'r1', [1, 2]), 0],
    [
      'a usage record with a counter that is a truth value',
      record(PARENT, 'r1', { input_tokens: true, output_tokens: 4 }),
      1,
    ],
  ])('%s is told as damage; what is beside it still counts', (_, told, observations) => {
    const out = usageOf([told]);
    expect([out.badRecords, out.observations.length]).toEqual([['wrong_type'], observations]);
  });

  test('news about rate limits hold no usage', () => {
    const out = usageOf([
      event('token_count', { info: null, rate_limits: {} }),
      event('token_count', { rate_limits: {} }),
    ]);
    expect(out.observations).toEqual([]);
    expect(out.unknownTypes).toEqual({});
  });

  test('counters of the wrong type are null and the others still count', () => {
    const odd = { input_tokens: '17', cached_input_tokens: null, output_tokens: 4, total_tokens: 21 };
    expect(usageOf([count(odd, odd)]).observations).toMatchObject([
      { input_tokens: null, cache_read_tokens: null, cache_write_tokens: null, output_tokens: 4, total_tokens: 21 },
    ]);
  });

  test('a spelling that is not the writer’s counts the same', () => {
    const spaced = [
      count(vector(1000, 200, 50, 7), vector(1000, 200, 50, 7)),
      count(vector(1100, 210, 55, 8), vector(100, 10, 5, 1)),
    ];
    const plain = usageOf(spaced).observations.map((o) => ({ ...o, at: null }));
    const odd = usageOf(spaced.map((one) => JSON.stringify(one, null, 1).replaceAll('\n', ' '))).observations;
    expect(odd.map((o) => ({ ...o, at: null }))).toEqual(plain);
  });

  test('cache writes and service tier are told as recorded', () => {
    const v = { ...vector(100, 40, 10), cache_write_input_tokens: 30 };
    const settings = event('thread_settings_applied', {
      thread_settings: { model: 'model-b', service_tier: 'priority' },
    });
    expect(usageOf([settings, count(v, v)]).observations).toMatchObject([
      { cache_write_tokens: 30, model: 'model-b', service_tier: 'priority', input_includes_cache_write: true },
    ]);
    expect(totalOf([count(v, v)])).toMatchObject({ input: 30, cache_read: 40, cache_write: 30, output: 10 });
  });
});

describe('models', () => {
  test('usage and answers carry the model of the turn they follow, and none before the first', () => {
    const out = decode(
      made(PARENT, [
        meta(PARENT),
        assistant('early'),
        turn('t1', 'model-a'),
        assistant('one'),
        count(vector(1, 0, 1), vector(1, 0, 1)),
        turn('t2', 'model-b'),
        assistant('two'),
        count(vector(3, 0, 2), vector(2, 0, 1)),
      ]),
    );
    expect(out.messages.map((row) => row.model)).toEqual([null, 'model-a', 'model-b']);
    expect(out.observations.map((row) => row.model)).toEqual(['model-a', 'model-b']);
  });

  test('a turn that names its model in an unusual place does not change it', () => {
    const nested = line('turn_context', { turn_id: 't2', cwd: '"model":"no"', settings: { model: 'no' } });
    const out = usageOf([nested, count(vector(1, 0, 1), vector(1, 0, 1))]);
    expect(out.observations[0]?.model).toBe('model-a');
  });
});

describe('usage records', () => {
  test('from the first record on token_count lines are not counted', () => {
    const reply = vector(500, 100, 20);
    const out = usageOf([
      count(vector(1000, 0, 50), vector(1000, 0, 50)),
      record(PARENT, 'resp_1', reply),
      count(vector(1500, 100, 70), reply),
      record(PARENT, 'resp_2', vector(700, 0, 7)),
      count(vector(9000, 0, 900), vector(700, 0, 7)),
    ]);
    expect(out.observations.map((o) => [o.key, o.basis])).toEqual([
      [null, 'last_sample'],
      ['resp_1', 'native'],
      ['resp_2', 'native'],
    ]);
    expect(usageTotal(out.observations)).toMatchObject({ input: 2100, cache_read: 100, output: 77 });
  });

  test('the first record’s reply is not counted by a token_count before it, but an equal later one is', () => {
    const reply = vector(500, 100, 20);
    const out = usageOf([
      count(vector(1000, 0, 50), vector(1000, 0, 50)),
      count(vector(1500, 100, 70), reply),
      record(PARENT, 'resp_1', reply),
    ]);
    expect(usageTotal(out.observations)).toMatchObject({ input: 1400, cache_read: 100, output: 70 });
  });

  test('a record of another thread, and running sums, are nobody’s reply here', () => {
    const out = usageOf([record('another', 'resp_x', vector(9, 0, 9)), count(vector(5, 0, 5), vector(5, 0, 5))]);
    expect(out.observations.map((o) => o.basis)).toEqual(['last_sample']);
  });

  test('a reply in two files is one reply', () => {
    const [a, b] = ['one', 'two'].map((id) =>
      decode(made(id, [meta(id), user('x'), record(id, 'resp_1', vector(8, 0, 2))])),
    );
    const seen = new Set<string>();
    usageTotal(a?.observations ?? [], seen);
    expect(seen.size).toBe(1);
    usageTotal(b?.observations ?? [], seen);
    expect(seen.size).toBe(1);
  });

  test('a record without a usable id is known by its place', () => {
    const out = usageOf([record(PARENT, ' ', vector(8, 0, 2)), record(PARENT, null, vector(8, 0, 2))]);
    expect(out.observations.map((o) => o.key)).toEqual([null, null]);
    expect(new Set(out.observations.map((o) => o.id)).size).toBe(2);
  });

  test('a record without counters is a damaged line', () => {
    expect(usageOf([record(PARENT, 'resp_1', 'lots')]).lineErrors).toBe(1);
  });
});

test('a rollout without token lines has no usage at all', () => {
  expect(totalOf([assistant('done')])).toBeNull();
});

test('usage alone is read without parsing what carries none', () => {
  const heavy = Array.from({ length: 50 }, (_, i) => assistant(`answer ${i}`));
  const lines = [...START, ...heavy, count(vector(1, 0, 1), vector(1, 0, 1))];
  const out = decode(made(PARENT, lines), undefined, { ...NOTHING, usage: true });
  expect(out.observations).toHaveLength(1);
  expect(out.messages).toHaveLength(0);
});

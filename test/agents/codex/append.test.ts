import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ALL,
  cutsOf,
  decode,
  decodeCut,
  decodePart,
  type Loaded,
  made,
  NOTHING,
  Recording,
  resolveAll,
} from './driver.ts';
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
  rollback,
  task,
  turn,
  user,
  vector,
} from './lines.ts';

/** Lines that move one piece of state each, so that any order of them meets any cut. */
const POOL = [
  user('one'),
  user('<environment_context></environment_context>'),
  user(['<skill>', 'two'], { id: 'msg_1' }),
  assistant('answer'),
  item('reasoning', { summary: [{ type: 'summary_text', text: 'hm' }] }),
  item('function_call', { name: 'shell', arguments: '{}', call_id: 'call_0' }),
  item('function_call_output', { call_id: 'call_0', output: 'ok' }),
  event('user_message', { message: 'mirrored' }),
  event('agent_message', { message: 'mirrored answer' }),
  rollback(1),
  rollback(3),
  line('inter_agent_communication', {}),
  task('p1'),
  task('own'),
  task('external-import-turn-1'),
  turn('p2', 'model-b'),
  turn(null, 'model-c'),
  event('thread_settings_applied', { thread_settings: { model: 'model-d', service_tier: 'flex' } }),
  event('thread_name_updated', { thread_name: 'named' }),
  count(vector(10, 0, 1), vector(10, 0, 1)),
  count(vector(20, 0, 2), vector(10, 0, 1)),
  count(vector(30, 5, 3)),
  record(PARENT, 'resp_1', vector(10, 0, 1)),
  record(CHILD, 'resp_2', vector(20, 0, 2)),
  record(CHILD, 'resp_3', vector(10, 0, 1)),
  meta(PARENT),
  meta(CHILD),
  line('compacted', { message: '' }),
  '{"timestamp":"2026-01-01T09:00:00.000Z","type":"compacted","payload":{"mess',
  '7',
];
const lines = fc.array(fc.constantFrom(...POOL), { maxLength: 14 });
const header = fc.constantFrom(
  {},
  { forked_from_id: PARENT },
  { parent_thread_id: PARENT, subagent_history_start_ordinal: 4 },
  { history_base: { thread_id: PARENT, end_ordinal_exclusive: 2 } },
);
const parent = made(PARENT, [meta(PARENT), task('p1'), user('one'), turn('p2'), assistant('answer')]);
const bareParent = made(PARENT, [meta(PARENT), user('one'), assistant('answer')]);

const rollout = fc
  .record({
    header,
    second: fc.boolean(),
    ordinals: fc.boolean(),
    lines,
    kin: fc.constantFrom('none', 'turns', 'payloads'),
  })
  .map(({ header, second, ordinals, lines, kin }) => {
    const all = [meta(CHILD, header), ...(second ? [meta(PARENT)] : []), ...lines];
    const numbered = all.map((one, i) => (ordinals && typeof one === 'object' ? paginated([one], i)[0] : one));
    return { child: made(CHILD, numbered), kin };
  });

const kinOf = (child: Loaded, kin: string) =>
  kin === 'none' ? undefined : resolveAll([kin === 'turns' ? parent : bareParent, child]).get(child);

describe('whatever a rollout holds', () => {
  test('reading on at any line boundary gives the newest rows of one read', () => {
    let resumed = 0;
    fc.assert(
      fc.property(rollout, ({ child, kin }) => {
        const kinship = kinOf(child, kin);
        const whole = decode(child, kinship).newest();
        for (const cut of cutsOf(child.bytes)) {
          const read = decodeCut(child, kinship, cut);
          if (!read.whole) resumed++;
          expect(read.out.newest()).toEqual(whole);
        }
      }),
      { numRuns: 1500 },
    );
    expect(resumed).toBeGreaterThan(1000);
  });

  test('rows and ids do not depend on what else is asked for', () => {
    fc.assert(
      fc.property(rollout, ({ child, kin }) => {
        const kinship = kinOf(child, kin);
        const whole = decode(child, kinship, ALL);
        expect(decode(child, kinship, { ...NOTHING, usage: true }).observations).toEqual(whole.observations);
        expect(decode(child, kinship, { ...NOTHING, messages: true }).messages).toEqual(whole.messages);
        expect(decode(child, kinship, { ...NOTHING, tool_results: true }).results).toEqual(whole.results);
        expect(decode(child, kinship, { ...NOTHING, sessions: true }).sessions).toEqual(whole.sessions);
      }),
      { numRuns: 1000 },
    );
  });

  test('event ids are unique', () => {
    fc.assert(
      fc.property(rollout, ({ child, kin }) => {
        const out = decode(child, kinOf(child, kin));
        for (const rows of [out.messages, out.calls, out.results, out.observations] as { id: string }[][])
          expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length);
      }),
    );
  });
});

test('a grown file is read on, not again, where nothing told before changes', () => {
  const header = { parent_thread_id: PARENT, subagent_history_start_ordinal: 3 };
  const lines = [meta(CHILD, header), meta(PARENT), user('copied'), user('own'), assistant('answer'), user('more')];
  const one = made(CHILD, paginated(lines));
  const kin = resolveAll([parent, one]).get(one);
  for (const cut of cutsOf(one.bytes).slice(4)) expect(decodeCut(one, kin, cut).whole).toBe(false);
});

test('a grown file of mirror events is read on through a rollback of new prompts', () => {
  const said = (message: string) => event('user_message', { message });
  const one = made(PARENT, [meta(PARENT), said('a'), said('b'), said('c'), rollback(1), said('d')]);
  expect(cutsOf(one.bytes).map((cut) => decodeCut(one, undefined, cut).whole)).toEqual([
    false,
    false,
    false,
    false,
    true,
    false,
    false,
  ]);
});

test('the saved state does not grow with the file', () => {
  const sizes = [10, 2000].map((n) => {
    const one = made(PARENT, [
      meta(PARENT),
      ...Array.from({ length: n }, (_, i) => [user(`${i}`), assistant('x')]).flat(),
    ]);
    return JSON.stringify(decodePart(one, undefined, new Recording(one.source))).length;
  });
  expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) + 50);
});

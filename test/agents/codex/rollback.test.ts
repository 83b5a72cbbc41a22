import { describe, expect, test } from 'vitest';
import { ReadWholeSource } from '../../../src/agents/agent.ts';
import { cutsOf, decode, decodeCut, decodePart, made, Recording, resolveAll } from './driver.ts';
import { assistant, CHILD, event, item, line, meta, PARENT, paginated, rollback, turn, user } from './lines.ts';

const TURNS = ['one', 'two', 'three'].flatMap((text) => [
  user(`<environment_context>${text}</environment_context>`),
  user(text),
  assistant(`re ${text}`),
]);
const activity = (lines: readonly unknown[]) => {
  const rows = decode(made(PARENT, [meta(PARENT), assistant('welcome'), ...lines])).messages.filter(
    (row) => !row.is_meta,
  );
  return [
    rows.filter((row) => row.is_active).map((row) => row.text),
    rows.filter((row) => !row.is_active).map((row) => row.text),
  ];
};

describe('thread_rolled_back', () => {
  test('takes back from the n-th last typed message on; injected messages are no turns', () => {
    expect(activity([...TURNS, rollback(2), user('four')])).toEqual([
      ['welcome', 'one', 're one', 'four'],
      ['two', 're two', 'three', 're three'],
    ]);
  });

  test('only messages that are still active count', () => {
    expect(activity([...TURNS, rollback(1), rollback(1), user('four')])).toEqual([
      ['welcome', 'one', 're one', 'four'],
      ['two', 're two', 'three', 're three'],
    ]);
    expect(activity([...TURNS, rollback(1), user('four'), rollback(2)])[0]).toEqual(['welcome', 'one', 're one']);
  });

  test('more turns than there are go back to the first; none, or nonsense, change nothing', () => {
    expect(activity([...TURNS, rollback(9)])[0]).toEqual(['welcome']);
    for (const turns of [0, -1, 'two', null, 1.5]) expect(activity([...TURNS, rollback(turns)])[1]).toEqual([]);
    expect(activity([rollback(1)])[1]).toEqual([]);
  });

  test('a message from another agent is such a turn', () => {
    const letter = line('inter_agent_communication', { author: '/root', content: 'go' });
    expect(activity([user('one'), letter, assistant('working'), rollback(1), user('two')])).toEqual([
      ['welcome', 'one', 'two'],
      ['working'],
    ]);
  });

  test('a prompt that its kinds call injected is no turn, however it begins', () => {
    const kinds = { internal_chat_message_metadata_passthrough: { content_item_kinds: ['hooks.additional_context'] } };
    expect(activity([user('one'), user('Be brief.', kinds), assistant('yes'), rollback(1)])[0]).toEqual(['welcome']);
  });

  test('an image without words is a typed turn', () => {
    const image = item('message', { role: 'user', content: [{ type: 'input_image', image_url: 'data:' }] });
    expect(activity([user('one'), image, assistant('a cat'), rollback(1)])[1]).toEqual([null, 'a cat']);
  });

  test('where only mirror events hold the messages, they are the turns', () => {
    const lines = [
      event('user_message', { message: 'a' }),
      event('user_message', { message: 'b' }),
      rollback(1),
      event('user_message', { message: 'c' }),
    ];
    const out = decode(made(PARENT, [meta(PARENT), ...lines]));
    expect(out.messages.map((row) => [row.text, row.is_active])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
  });

  test('a rollback that reaches what was told before has the whole source read; others do not', () => {
    const one = made(PARENT, [
      meta(PARENT),
      turn('t'),
      user('one'),
      assistant('re'),
      user('two'),
      rollback(1),
      user('three'),
    ]);
    const wholes = cutsOf(one.bytes).map((cut) => decodeCut(one, undefined, cut).whole);
    // Cuts behind `two` lose it; cuts before it do not.
    expect(wholes).toEqual([false, false, false, false, false, true, false, false]);
  });
});

describe('reverts', () => {
  const name = (suffix: string) => `rollout-2026-01-0${suffix}`;
  const base = (end: number) => ({
    history_mode: 'paginated',
    history_base: { thread_id: PARENT, end_ordinal_exclusive: end },
  });
  const first = made(
    PARENT,
    paginated([meta(PARENT), user('one'), assistant('re one'), user('two'), assistant('re two')]),
    {
      name: name(`1T00-00-00-${PARENT}`),
    },
  );
  const second = made(PARENT, paginated([meta(PARENT, base(3)), user('three'), assistant('re three')], 3), {
    name: name(`2T00-00-00-${PARENT}_r1`),
  });
  const texts = (one: typeof first, all: (typeof first)[]) => {
    const out = decode(one, resolveAll(all).get(one));
    return out.messages.map((row) => [row.text, row.is_active]);
  };

  test('a later file of the thread takes back the earlier rows from its base on', () => {
    expect(texts(first, [second, first])).toEqual([
      ['one', true],
      ['re one', true],
      ['two', false],
      ['re two', false],
    ]);
    expect(texts(second, [second, first])).toEqual([
      ['three', true],
      ['re three', true],
    ]);
    expect(decode(second).sessions[0]).toMatchObject({ session_id: PARENT, kind: 'main' });
  });

  test('of several reverts the lowest base counts for each earlier file', () => {
    const third = made(PARENT, paginated([meta(PARENT, base(4)), user('four')], 4), {
      name: name(`3T00-00-00-${PARENT}_r2`),
    });
    expect(texts(first, [first, second, third]).map(([, active]) => active)).toEqual([true, true, false, false]);
    expect(texts(second, [first, second, third]).map(([, active]) => active)).toEqual([false, false]);
  });

  test('a base on another thread takes nothing back', () => {
    const fork = made(CHILD, paginated([meta(CHILD, { ...base(1), forked_from_id: PARENT }), user('mine')], 1));
    expect(texts(first, [first, fork]).every(([, active]) => active)).toBe(true);
  });

  test('a saved state from before the revert is not gone on from', () => {
    const kin = resolveAll([first, second]).get(first);
    const to = first.bytes.length;
    const state = decodePart(first, undefined, new Recording(first.source));
    const run = { from: { byte: to, ordinal: 5 }, to, resume: state };
    expect(() => decodePart(first, kin, new Recording(first.source), run)).toThrow(ReadWholeSource);
    expect(() => decodePart(first, undefined, new Recording(first.source), run)).not.toThrow();
  });
});

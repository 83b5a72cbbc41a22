/** Which rows are on the live branch of a session. */
import { describe, expect, test } from 'vitest';
import { agentFile, cutsOf, mainFile, type Recording, read, readInTwo } from './driver.ts';
import { call, lines, reply, result, row, text, user } from './rows.ts';

const decode = (...rows: Parameters<typeof lines>): Recording => read(mainFile(lines(...rows))).recording;

describe('branches', () => {
  const activity = (...rows: Parameters<typeof lines>): unknown[] =>
    decode(...rows).messages.map(({ fields }) => [fields.text, fields.is_active]);

  test('what was rewound is inactive', () => {
    const told = activity(
      user('u1', 'a'),
      reply('u2', [text('b')], {}, { parentUuid: 'u1' }),
      user('u3', 'c', { parentUuid: 'u2' }),
      user('u4', 'd', { parentUuid: 'u2' }),
    );
    expect(told).toEqual([
      ['a', true],
      ['b', true],
      ['c', false],
      ['d', true],
    ]);
  });

  test('the way leads over a compaction, also where the old rows are gone', () => {
    const after = [
      row({ type: 'system', subtype: 'compact_boundary', logicalParentUuid: 'u1', uuid: 'u2' }),
      user('u3', 'summary', { isCompactSummary: true, parentUuid: 'u2' }),
    ];
    expect(activity(user('u1', 'a'), ...after)).toEqual([
      ['a', true],
      ['summary', true],
    ]);
    expect(activity(user('u0', 'other'), ...after)).toEqual([
      ['other', true],
      ['summary', true],
    ]);
  });

  test('parallel calls are no branches', () => {
    const told = decode(
      user('u1', 'go'),
      reply('u2', [text('both'), call('t1', 'Read')], {}, { parentUuid: 'u1' }),
      reply('u3', [call('t2', 'Read')], {}, { parentUuid: 'u2' }),
      user('u4', [result('t1', 'x'), text('note')], { parentUuid: 'u2' }),
      user('u5', [result('t2', 'y')], { parentUuid: 'u3' }),
      reply('u6', [text('done')], { id: 'msg_2' }, { parentUuid: 'u5' }),
    );
    expect(told.messages.map(({ fields }) => fields.is_active)).toEqual([true, true, true, true]);
  });

  test('a rewind mark after the last row names the leaf, until it is taken back', () => {
    const rows = [user('u1', 'a'), user('u2', 'b', { parentUuid: 'u1' })];
    const mark = (leafUuid: string | null): Record<string, unknown> => ({
      type: 'last-prompt',
      leafUuid,
      explicit: true,
    });
    expect(activity(...rows, mark('u1'))).toEqual([
      ['a', true],
      ['b', false],
    ]);
    const live = [
      ['a', true],
      ['b', true],
    ];
    expect(activity(...rows, mark('u1'), mark(null))).toEqual(live);
    expect(activity(...rows, { type: 'last-prompt', leafUuid: 'u1' })).toEqual(live);
    expect(activity(rows[0]!, mark('u1'), rows[1]!)).toEqual(live);
  });

  test('a prompt after a rewind goes on where the mark was, also in a later run', () => {
    const source = mainFile(
      lines(
        user('u1', 'a'),
        user('u2', 'b', { parentUuid: 'u1' }),
        { type: 'last-prompt', leafUuid: 'u1', explicit: true },
        user('u3', 'c', { parentUuid: 'u1' }),
      ),
    );
    const parts = readInTwo(source, cutsOf(source.bytes)[3]!)!;
    expect(parts.first.messages.map(({ fields }) => fields.is_active)).toEqual([true, false]);
    expect(parts.second.messages.map(({ fields }) => [fields.text, fields.is_active])).toEqual([['c', true]]);
  });

  test('sidechains are never inactive, and late progress rows abandon nothing', () => {
    const told = activity(
      user('u1', 'a'),
      user('s1', 'aside', { isSidechain: true }),
      reply('u2', [text('b')], {}, { parentUuid: 'u1' }),
      row({ type: 'progress', parentUuid: 'u1', data: {}, uuid: 'p1' }),
    );
    expect(told.every((entry) => (entry as unknown[])[1])).toBe(true);
  });

  test('rows of an agent file are all active', () => {
    const source = agentFile(
      lines(user('u1', 'a', { isSidechain: true }), user('u2', 'b', { isSidechain: true })),
      'agent-1',
    );
    expect(read(source).recording.messages.map(({ fields }) => fields.is_active)).toEqual([true, true]);
  });
});

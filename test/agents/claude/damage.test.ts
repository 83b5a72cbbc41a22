/** Files as crashes, other writers and bad intentions leave them. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALL, agentFile, MAIN, mainFile, NONE, type Recording, read } from './driver.ts';
import { lines, reply, result, row, text, usage, user } from './rows.ts';

const decode = (...rows: Parameters<typeof lines>): Recording => read(mainFile(lines(...rows))).recording;
const said = ({ messages }: Recording): unknown[] => messages.map(({ fields }) => fields.text);

test('a damaged line is an error, and the lines around it are read', () => {
  const told = decode(
    user('u1', 'a'),
    JSON.stringify(user('u2', 'torn')).slice(0, 90),
    `${JSON.stringify(user('u2', 'b')).slice(0, 60)}${JSON.stringify(user('u3', 'c'))}`,
    '[1,2]',
    '5',
    '"text"',
    'null',
    user('u4', 'd', { parentUuid: 'u3' }),
  );
  expect(said(told)).toEqual(['a', 'd']);
  expect(told.errors).toEqual([
    { ordinal: 1, code: 'malformed_json' },
    { ordinal: 2, code: 'malformed_json' },
    ...[3, 4, 5, 6].map((ordinal) => ({ ordinal, code: 'not_an_object' })),
  ]);
  // Nothing proves that what stood before the lost row was abandoned.
  expect(told.messages.every(({ fields }) => fields.is_active)).toBe(true);
});

test('a line that is no UTF-8 is an error', () => {
  const bytes = Buffer.from(lines(user('u1', 'a'), user('u2', 'X'), user('u3', 'c')));
  bytes[bytes.indexOf('"X"') + 1] = 0xff;
  const told = read(mainFile(bytes)).recording;
  expect([said(told), told.errors.length]).toEqual([['a', 'c'], 1]);
});

test('an escape that is none and a raw control byte are errors, wherever in the line', () => {
  const line = JSON.stringify(user('u1', [result('t1', 'x')], { toolUseResult: { stdout: '@' } }));
  expect(decode(line).results).toHaveLength(1);
  const told = decode(line.replace('@', '\\x'), line.replace('@', '\u0001'), line.replace('@', '\\u00g0'), line);
  expect(told.errors.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
  expect(told.results).toHaveLength(1);
});

test('NUL bytes before a record are a hole that a crash left', () => {
  expect(said(decode(user('u1', 'a'), `\0\0\0${JSON.stringify(user('u2', 'b', { parentUuid: 'u1' }))}`))).toEqual([
    'a',
    'b',
  ]);
});

test('line separators of Unicode end no line', () => {
  expect(said(decode(user('u1', 'a\u2028b\u2029c')))).toEqual(['a\u2028b\u2029c']);
});

test('keys in any order, white space and escaped keys make no difference', () => {
  const plain = reply('u1', [text('a')]);
  const turned = Object.fromEntries(Object.entries(plain).reverse());
  const spaced = JSON.stringify(turned, null, 1)
    .replaceAll('\n', ' ')
    .replace('"type": "assistant"', '"\\u0074ype" : "assist\\u0061nt"');
  const { recording } = read(mainFile(`${spaced}\r\n`));
  expect([said(recording), recording.observations.map(({ fields }) => fields)]).toEqual([
    ['a'],
    decode(plain).observations.map(({ fields }) => fields),
  ]);
});

test('the last of equal keys counts', () => {
  const line = JSON.stringify(user('u1', 'first')).slice(0, -1);
  expect(said(decode(`${line},"message":{"role":"user","content":"last"}}`))).toEqual(['last']);
  expect(decode(`${line},"message":"none"}`).errors).toEqual([{ ordinal: 0, code: 'no_message' }]);
});

test('what has the wrong type is absent, and the row stays', () => {
  const told = decode(
    { type: 'user', message: { content: 'a' } },
    {
      type: 'user',
      message: { content: [null, 5, { type: 'text', text: 7 }, [], text('b')] },
      uuid: 9,
      parentUuid: [],
      isSidechain: 'no',
      timestamp: 5,
    },
    { type: 'assistant', message: { id: 4, model: {}, content: 'c', usage: 'none' }, uuid: 'u3', cwd: 5 },
    { type: 'assistant', message: { content: { text: 'x' } }, uuid: 'u4' },
    { type: 'user', message: { content: null } },
    { type: 'user' },
    { type: 5 },
    {},
  );
  expect(said(told)).toEqual(['a', 'b', 'c']);
  expect(told.messages.map(({ fields }) => [fields.record_id, fields.model])).toEqual([
    [null, null],
    [null, null],
    ['u3', null],
  ]);
  expect(told.errors).toEqual([
    { ordinal: 1, code: 'wrong_type' },
    { ordinal: 2, code: 'wrong_type' },
    { ordinal: 3, code: 'no_content' },
    { ordinal: 4, code: 'no_content' },
    { ordinal: 5, code: 'no_message' },
  ]);
  expect(told.unknownTypes).toEqual(['(no type)', '(no type)']);
  expect(told.sessions[0]).toMatchObject({ session_id: MAIN, cwd: null });
});

test.each([
  ['a text', { input_tokens: '12', output_tokens: 3 }],
  ['a list', { input_tokens: 12, output_tokens: [3] }],
  ['a truth value', { input_tokens: 12, cache_creation: { ephemeral_1h_input_tokens: true } }],
  ['no object', 12],
])('a counter that is %s is told as damage, not as nothing', (_, usage) => {
  const line = { type: 'assistant', uuid: 'u', message: { id: 'm', content: 'a', usage } };
  expect(decode(line).errors).toEqual([{ ordinal: 0, code: 'wrong_type' }]);
});

test('a counter that is null or absent is no damage', () => {
  const usage = { input_tokens: 12, output_tokens: null };
  expect(decode({ type: 'assistant', uuid: 'u', message: { id: 'm', content: 'a', usage } }).errors).toEqual([]);
});

test('rows without an id are named by their place', () => {
  const { messages } = decode({ type: 'user', message: { content: 'a' } }, { type: 'user', message: { content: 'a' } });
  expect(messages[0]!.at.nativeId).toBeNull();
  expect(messages[0]!.id).not.toBe(messages[1]!.id);
});

test('a key named __proto__ is a key', () => {
  const line = JSON.stringify(user('u1', 'a')).replace('{', '{"__proto__":{"isMeta":true,"isSidechain":true},');
  const inner = line
    .replace('"u1"', '"u2"')
    .replace('"content":"a"', '"content":[{"__proto__":{"text":"x"},"type":"text"},{"type":"text","text":"b"}]');
  const told = decode(line, inner);
  expect(said(told)).toEqual(['a', 'b']);
  expect(told.messages[0]!.fields.is_meta).toBe(false);
  const totals = '{"type":"cost-state","modelUsage":{"__proto__":{"inputTokens":3}},"totalCostUSD":1}';
  expect(decode(user('u1', 'a'), totals).sessions[0]).toMatchObject({ reported_input_tokens: 3 });
  expect(({} as Record<string, unknown>)['isMeta']).toBeUndefined();
});

test('a row that is its own parent, or the child of a later one, ends no read', () => {
  const told = decode(
    user('u1', 'a', { parentUuid: 'u1' }),
    user('u2', 'b', { parentUuid: 'u3' }),
    user('u3', 'c', { parentUuid: 'u2' }),
  );
  expect(told.messages.map(({ fields }) => fields.is_active)).toEqual([true, true, true]);
});

test('deep nesting blows no stack', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const line = JSON.stringify(user('u1', 'a', { more: '@' })).replace('"@"', deep);
  expect(said(decode(line, line.replace('"u1"', '"u2"').slice(0, -3)))).toEqual(['a']);
});

test('types are counted by name: known ones as ignored, others as unknown', () => {
  const told = decode(
    { type: 'file-history-snapshot' },
    { type: 'data-flow-something' },
    row({ type: 'system', subtype: 'turn_duration', uuid: 'u1' }),
    row({ type: 'progress', data: {}, uuid: 'u2' }),
    { type: 'some-future-type', message: { content: 'x' }, uuid: 'u3' },
  );
  expect(told.ignoredTypes).toEqual(['file-history-snapshot', 'data-flow-something', 'system', 'progress']);
  expect(told.unknownTypes).toEqual(['some-future-type']);
});

test('a sidecar that is none is told, and the agent stays', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claude-'));
  const rows = lines(user('u1', 'do', { isSidechain: true }));
  const withMeta = (content: string): Recording => {
    const source = agentFile(rows, 'agent-1');
    writeFileSync(join(folder, 'm.json'), content);
    return read({ ...source, spec: { ...source.spec, sidecars: { meta: join(folder, 'm.json') } } }).recording;
  };
  expect(withMeta('{"agentType":"x","description":"d","toolUseId":5,"other":1}').sessions[0]!.extra).toEqual({
    agentType: 'x',
    description: 'd',
  });
  for (const content of ['', '[]', '{"agentType"']) {
    const told = withMeta(content);
    expect([told.issues, told.sessions.length, told.messages.length]).toEqual([['bad_sidecar'], 1, 1]);
  }
});

test('a state that was too large to keep asks for a whole read', () => {
  const source = mainFile(lines(reply('u1', [text('x'.repeat(300_000))]), user('u2', 'b', { parentUuid: 'u1' })));
  const cut = { byte: source.bytes.indexOf(10) + 1, ordinal: 1 };
  const { state } = read(source, { to: cut.byte });
  expect(JSON.stringify(state).length).toBeLessThan(1000);
  expect(() => read(source, { from: cut, resume: state })).toThrow();
});

test('a state kept for some tables is none for others', () => {
  const source = mainFile(lines(user('u1', 'a'), user('u2', 'b', { parentUuid: 'u1' })));
  const cut = { byte: source.bytes.indexOf(10) + 1, ordinal: 1 };
  const { state } = read(source, { to: cut.byte, wants: { ...NONE, usage: true } });
  expect(() => read(source, { from: cut, resume: state, wants: ALL })).toThrow();
  expect(() => read(source, { from: cut, resume: state, wants: { ...NONE, usage: true } })).not.toThrow();
});

test('the state of a long session stays small', () => {
  const rows = Array.from({ length: 3000 }, (_, i) =>
    reply(`u${i}`, [text('x'.repeat(500))], { id: `m${i}`, usage: usage(i) }, { parentUuid: `u${i - 1}` }),
  );
  expect(JSON.stringify(read(mainFile(lines(...rows))).state).length).toBeLessThan(40_000);
});

test('the prompt history gives entries and no session', () => {
  const source = {
    spec: {
      storeKind: 'claude-history',
      path: '/r/history.jsonl',
      identity: 'h',
      name: 'history',
      hints: { optIn: 'history' },
      sidecars: {},
    },
    bytes: Buffer.from(
      lines(
        { display: 'a', pastedContents: {}, timestamp: 1793534401000, project: '/w', sessionId: 's' },
        { display: 5, timestamp: 'x' },
        '[]',
        '{',
        { display: 'b', timestamp: 1.5 },
      ),
    ),
  };
  const told = read(source).recording;
  expect(told.entries.map(({ fields }) => fields)).toEqual([
    { session_id: 's', text: 'a', timestamp: 1793534401000, timestamp_native: 1793534401000, unit: 'ms', cwd: '/w' },
    { session_id: null, text: null, timestamp: null, timestamp_native: null, unit: null, cwd: null },
    { session_id: null, text: 'b', timestamp: null, timestamp_native: null, unit: null, cwd: null },
  ]);
  expect(told.errors.map(({ ordinal }) => ordinal)).toEqual([2, 3]);
  expect([told.sessions, told.messages]).toEqual([[], []]);
});

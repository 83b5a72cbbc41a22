/** What becomes of the rows of one file. */
import { describe, expect, test } from 'vitest';
import { MAIN, mainFile, type Recording, read } from './driver.ts';
import { call, lines, reply, result, row, text, usage, user } from './rows.ts';

const decode = (...rows: Parameters<typeof lines>): Recording => read(mainFile(lines(...rows))).recording;
const said = ({ messages }: Recording): unknown[] => messages.map(({ fields }) => [fields.role, fields.text]);

describe('replies', () => {
  test('rows of one message id are one message, at the place of the first one', () => {
    const { messages } = decode(
      reply('u1', [{ type: 'thinking', thinking: 'hm', signature: 's' }], { usage: usage(1) }),
      reply('u2', [text('a')], { usage: usage(1) }, { timestamp: '2026-01-05T10:00:09.000Z' }),
      reply('u3', [call('t1', 'Bash')], { usage: usage(9) }),
    );
    expect(messages).toHaveLength(1);
    expect(messages[0]!.fields).toMatchObject({
      text: 'a',
      thinking: 'hm',
      record_id: 'u1',
      content_kinds: ['thinking', 'text', 'tool_use'],
    });
    expect(messages[0]!.at).toMatchObject({ nativeId: 'msg_1', timestampText: '2026-01-05T10:00:00.000Z' });
  });

  test('a block that an earlier row brought already is dropped', () => {
    const told = decode(
      reply('u1', [text('a')]),
      reply('u2', [text('a'), text('b'), call('t1', 'Bash')]),
      reply('u3', [call('t1', 'Bash')]),
    );
    expect(said(told)).toEqual([['assistant', 'a\nb']]);
    expect(told.calls).toHaveLength(1);
  });

  test('many long blocks are told apart by more than their length', () => {
    const texts = Array.from({ length: 40 }, (_, i) => `${'x'.repeat(20_000)}${String.fromCharCode(65 + i)}`);
    const rows = [...texts, texts[3]!, texts[39]!].map((t, i) => reply(`u${i}`, [text(t)]));
    expect(decode(...rows).messages[0]!.fields.text === texts.join('\n')).toBe(true);
  });

  test('a reply waits for its last row, and what stands behind it waits with it', () => {
    const told = decode(
      reply('u1', [text('first')], { id: 'A' }),
      reply('u2', [text('other')], { id: 'B' }, { requestId: 'r2', parentUuid: 'u1' }),
      user('u3', 'in between', { parentUuid: 'u2' }),
      reply('u4', [text('second')], { id: 'A' }, { parentUuid: 'u3' }),
      user('u5', 'after', { parentUuid: 'u4' }),
    );
    expect(said(told)).toEqual([
      ['assistant', 'first\nsecond'],
      ['assistant', 'other'],
      ['user', 'in between'],
      ['user', 'after'],
    ]);
  });

  test('a message id under two request ids is two replies where both are native', () => {
    const told = decode(
      reply('u1', [text('a')], { id: 'x', usage: usage(3) }, { requestId: 'r1' }),
      reply('u2', [text('b')], { id: 'x', usage: usage(4) }, { requestId: 'r2', parentUuid: 'u1' }),
    );
    expect(said(told)).toEqual([
      ['assistant', 'a'],
      ['assistant', 'b'],
    ]);
    expect(told.observations.map(({ fields }) => [fields.key, fields.variant])).toEqual([
      ['x', 'r1'],
      ['x', 'r2'],
    ]);
  });

  test('a sidechain that repeats a reply under another request id is the same reply', () => {
    const told = decode(
      reply('u1', [text('a')], { id: 'x', usage: usage(3) }, { requestId: 'r1' }),
      user('u2', 'by the way', { isSidechain: true }),
      reply('u3', [text('a')], { id: 'x', usage: usage(3) }, { requestId: 'r2', isSidechain: true }),
    );
    expect(said(told)).toEqual([
      ['assistant', 'a'],
      ['user', 'by the way'],
    ]);
    expect(told.observations.map(({ fields }) => fields.request_id)).toEqual(['r1']);
  });

  test('without a message id every row is a reply of its own', () => {
    const told = decode(
      reply('u1', [text('a')], { id: null }),
      reply('u2', [text('a')], { id: '  ' }, { parentUuid: 'u1' }),
    );
    expect(said(told)).toHaveLength(2);
    expect(told.observations.map(({ fields }) => fields.key)).toEqual(['u1', 'u2']);
  });

  test('a row whose uuid was taken already is passed by, whatever stands between', () => {
    const rows = [user('u1', 'hi'), reply('u2', [text('a'), call('t1', 'Bash')], {}, { parentUuid: 'u1' })];
    const told = decode(...rows, user('u3', 'on', { parentUuid: 'u2' }), ...rows);
    expect(said(told)).toEqual([
      ['user', 'hi'],
      ['assistant', 'a'],
      ['user', 'on'],
    ]);
    expect(told.calls).toHaveLength(1);
    expect(told.messages.every(({ fields }) => fields.is_active)).toBe(true);
  });

  test("the client's own reply has no model, no usage, and nobody typed it", () => {
    const told = decode(
      reply('u1', [text('API Error: 529')], { id: 'e1', model: '<synthetic>' }),
      reply('u2', [text('limit')], { id: 'e2', model: 'opus' }, { isApiErrorMessage: true, parentUuid: 'u1' }),
    );
    expect(told.messages.map(({ fields }) => [fields.model, fields.is_meta, fields.kind])).toEqual([
      [null, true, 'synthetic'],
      [null, true, 'api_error'],
    ]);
    expect(told.observations).toEqual([]);
  });
});

describe('tools', () => {
  test('arguments are the recorded bytes', () => {
    const input = '{"b": 1.0, "a":"\\u00e9 \\ud800", "1":12345678901234567890}';
    const line = JSON.stringify(reply('u1', ['@'])).replace(
      '"@"',
      `{"type":"tool_use","input":${input},"id":"t1","name":"mcp__x__y"}`,
    );
    const [told] = decode(line).calls;
    expect(told!.fields).toEqual({
      is_copy: false,
      message_id: 'msg_1',
      call_id: 't1',
      name: 'mcp__x__y',
      kind: 'mcp',
      arguments: input,
    });
  });

  test('a skill is called by its own name, a server tool is told as such', () => {
    const { calls } = decode(
      reply('u1', [
        'no block',
        call('t1', 'Skill', { skill: 'pdf' }),
        call('t2', 'Task'),
        call('t3', 'Bash'),
        { type: 'server_tool_use', id: 't4', name: 'web_search', input: {} },
        { type: 'tool_use' },
      ]),
    );
    expect(calls.map(({ fields }) => [fields.name, fields.kind, fields.arguments])).toEqual([
      ['pdf', 'skill', '{"skill":"pdf"}'],
      ['Task', 'agent', '{}'],
      ['Bash', 'shell', '{}'],
      ['web_search', 'server', '{}'],
      [null, 'function', null],
    ]);
  });

  test('a result is no message, its error flag is null where it is not recorded', () => {
    const told = decode(
      user('u1', [result('t1', 'plain'), text('said')]),
      user('u2', [result('t2', [text('a'), { type: 'image' }, text('b')], { is_error: true })], { parentUuid: 'u1' }),
    );
    expect(told.results.map(({ fields }) => [fields.call_id, fields.output, fields.is_error])).toEqual([
      ['t1', 'plain', null],
      ['t2', 'a\nb', true],
    ]);
    expect(said(told)).toEqual([['user', 'said']]);
  });

  test('the structured result is told with one result, exactly as recorded, and not with several', () => {
    const one = JSON.stringify(user('u1', [result('t1', 'x')], { toolUseResult: '@' })).replace(
      '"@"',
      '{"n": 1.50, "é":[ ]}',
    );
    const two = user('u2', [result('t2', 'x'), result('t3', 'y')], { toolUseResult: { n: 1 } });
    expect(decode(one, two).results.map(({ fields }) => fields.output_json)).toEqual([
      '{"n": 1.50, "é":[ ]}',
      null,
      null,
    ]);
  });

  test('what a server tool gave back stands in the reply', () => {
    const found = [{ type: 'web_search_result', url: 'https://example.com', title: 'x' }];
    const { results } = decode(
      reply('u1', [
        { type: 'web_search_tool_result', tool_use_id: 't1', content: found },
        {
          type: 'web_search_tool_result',
          tool_use_id: 't2',
          content: { type: 'web_search_tool_result_error', error_code: 'max' },
        },
      ]),
    );
    expect(results.map(({ fields }) => [fields.call_id, fields.is_error, fields.output_json])).toEqual([
      ['t1', null, JSON.stringify(found)],
      ['t2', true, '{"type":"web_search_tool_result_error","error_code":"max"}'],
    ]);
  });

  test('two results under one id in one row are two rows', () => {
    const { results } = decode(user('u1', [result('t1', 'a'), result('t1', 'b')]));
    expect(new Set(results.map(({ id }) => id)).size).toBe(2);
  });
});

describe('prompts', () => {
  const meta = (content: unknown, fields: Record<string, unknown> = {}): boolean | undefined =>
    decode(user('u1', content, fields)).messages[0]?.fields.is_meta;

  test.each([
    ['<local-command-stdout>x</local-command-stdout>', true],
    ['<local-command-stderr>x', true],
    ['<local-command-caveat>x', true],
    ['<bash-stdout>x', true],
    ['<bash-stderr>x', true],
    ['<task-notification>x', true],
    ['[Request interrupted by user for tool use]', true],
    ['<command-name>/model</command-name>', false],
    ['<command-message>x', false],
    ['<bash-input>ls</bash-input>', false],
    [' <bash-stdout> quoted by a person', false],
    ['fix it', false],
  ])('%s is meta: %s', (content, expected) => {
    expect(meta(content)).toBe(expected);
    expect(meta([text(content)])).toBe(expected);
  });

  test('the row itself may say that nobody typed it, or that somebody did', () => {
    expect(meta('x', { isMeta: true })).toBe(true);
    expect(meta('x', { isCompactSummary: true })).toBe(true);
    expect(meta('x', { origin: { kind: 'task-notification' } })).toBe(true);
    expect(meta('x', { origin: { kind: 'auto-continuation' } })).toBe(true);
    expect(meta('x', { origin: { kind: 'human' } })).toBe(false);
    expect(meta('<bash-stdout> typed by hand', { origin: { kind: 'human' } })).toBe(false);
    expect(meta('x', { origin: { kind: 'something new' } })).toBe(false);
  });

  test('a queued prompt is a message, other attachments and queued notices are not', () => {
    const queued = (uuid: string, attachment: object): Record<string, unknown> =>
      row({ type: 'attachment', attachment: { type: 'queued_command', ...attachment }, uuid });
    const told = decode(
      queued('u1', { prompt: 'also this', commandMode: 'prompt' }),
      queued('u2', { prompt: [text('and'), { type: 'image' }, text('that')] }),
      queued('u3', { prompt: 'x', commandMode: 'task-notification' }),
      queued('u4', { prompt: 'x', isMeta: true }),
      row({ type: 'attachment', attachment: { type: 'file', content: 'x' }, uuid: 'u5' }),
      { type: 'queue-operation', operation: 'enqueue', content: 'also this' },
    );
    expect(said(told)).toEqual([
      ['user', 'also this'],
      ['user', 'and\nthat'],
    ]);
    expect(told.ignoredTypes).toEqual(['attachment', 'attachment', 'attachment', 'queue-operation']);
  });

  test('words of a voice call stand in a system row', () => {
    const voice = (uuid: string, fields: object): Record<string, unknown> =>
      row({ type: 'system', subtype: 'voice_call_talk', origin: { kind: 'voice-call' }, uuid, ...fields });
    const told = decode(voice('u1', { content: 'hello' }), voice('u2', { blocks: [text('so'), text('then')] }));
    expect(told.messages.map(({ fields }) => [fields.role, fields.text, fields.is_meta])).toEqual([
      ['user', 'hello', true],
      ['user', 'so\nthen', true],
    ]);
  });

  test('system and progress rows are no messages, even where they hold one', () => {
    const inner = reply('x1', [text('a'), call('t1', 'Read')]);
    const told = decode(
      row({ type: 'progress', data: { type: 'agent_progress', message: inner }, uuid: 'u1' }),
      row({ type: 'system', subtype: 'local_command', content: '<local-command-stdout>x', uuid: 'u2' }),
      user('u3', [result('t1', 'done')], { toolUseResult: { usage: usage(900), totalTokens: 900 } }),
    );
    expect([told.messages, told.calls, told.observations]).toEqual([[], [], []]);
  });
});

describe('events', () => {
  test('have the ids that the design promises', () => {
    const told = decode(
      user('u1', [text('a'), result('t0', 'x')]),
      reply('u2', [text('b'), call('t1', 'Bash')], {}, { parentUuid: 'u1' }),
    );
    const ids = [...told.messages, ...told.calls, ...told.results, ...told.observations].map(({ at }) => [
      at.sessionId,
      at.nativeId,
      at.slot,
    ]);
    expect(ids).toEqual([
      [MAIN, 'u1', 'message'],
      [MAIN, 'msg_1', 'message'],
      [MAIN, 'msg_1', 'call:t1'],
      [MAIN, 'u1', 'result:t0'],
      [MAIN, 'msg_1', 'usage'],
    ]);
  });

  test('a time that is none is null, and its spelling stays', () => {
    const { messages } = decode(
      user('u1', 'a', { timestamp: 'yesterday' }),
      user('u2', 'b', { timestamp: undefined, parentUuid: 'u1' }),
      user('u3', 'c', { timestamp: '2026-02-30T00:00:00.000Z', parentUuid: 'u2' }),
      user('u4', 'd', { timestamp: '2026-01-05T10:00:00.123456+02:00', parentUuid: 'u3' }),
    );
    expect(messages.map(({ at }) => at.timestampText)).toEqual([
      'yesterday',
      null,
      '2026-02-30T00:00:00.000Z',
      '2026-01-05T10:00:00.123456+02:00',
    ]);
    expect(messages.map(({ at }) => at.timestamp).slice(0, 2)).toEqual([null, null]);
    expect(messages[3]!.at.timestamp).toBeCloseTo(Date.UTC(2026, 0, 5, 8, 0, 0, 123) + 0.456, 3);
  });
});

import { describe, expect, test } from 'vitest';
import { decode, made } from './driver.ts';
import { item, meta, PARENT } from './lines.ts';

const read = (lines: readonly unknown[]) => decode(made(PARENT, [meta(PARENT), ...lines]));
const callOf = (type: string, payload: Record<string, unknown>) => read([item(type, payload)]).calls[0];

describe('calls', () => {
  test('arguments stay exactly as recorded, JSON or not', () => {
    expect(callOf('function_call', { name: 'shell', arguments: '{ "a":1 }', call_id: 'c1' })).toMatchObject({
      name: 'shell',
      kind: 'shell',
      call_id: 'c1',
      arguments: '{ "a":1 }',
    });
    expect(callOf('function_call', { name: 'f', arguments: '{broken', call_id: 'c1' })?.arguments).toBe('{broken');
    expect(callOf('custom_tool_call', { name: 'apply_patch', input: '*** Begin', call_id: 'c2' })).toMatchObject({
      kind: 'custom',
      arguments: '*** Begin',
    });
  });

  test('a call without call_id is known by its item id', () => {
    expect(callOf('local_shell_call', { id: 'ls_1', action: { type: 'exec', command: ['ls'] } })).toMatchObject({
      name: 'local_shell',
      kind: 'shell',
      call_id: 'ls_1',
      arguments: '{"type":"exec","command":["ls"]}',
    });
    expect(callOf('function_call', { name: 'f' })).toMatchObject({ call_id: null, arguments: null });
  });

  test('calls that the provider runs have names of their own', () => {
    expect(callOf('web_search_call', { id: 'ws_1', action: { type: 'search' } })).toMatchObject({
      name: 'web_search',
      kind: 'server',
    });
    expect(callOf('image_generation_call', { id: 'ig_1', result: 'AAAA', revised_prompt: 'a cat' })).toMatchObject({
      name: 'image_generation',
      call_id: 'ig_1',
      arguments: 'a cat',
    });
    expect(callOf('tool_search_call', { call_id: 'ts_1', arguments: { query: 'x' } })).toMatchObject({
      name: 'tool_search',
      arguments: '{"query":"x"}',
    });
  });

  test('skills, agents and MCP tools are told apart', () => {
    expect(callOf('function_call', { name: 'skill', arguments: '{"skill":"review"}', call_id: 'c' })).toMatchObject({
      name: 'review',
      kind: 'skill',
    });
    expect(callOf('function_call', { name: 'spawn_agent', arguments: '{}', call_id: 'c' })?.kind).toBe('agent');
    expect(callOf('function_call', { name: 'mcp__git__log', arguments: '{}', call_id: 'c' })?.kind).toBe('mcp');
    expect(callOf('function_call', { name: 'log', namespace: 'mcp__git', arguments: '{}', call_id: 'c' })?.kind).toBe(
      'mcp',
    );
  });

  test('the same call id twice gives two rows', () => {
    const call = item('function_call', { name: 'f', arguments: '{}', call_id: 'call_0' });
    const output = item('function_call_output', { call_id: 'call_0', output: 'x' });
    const out = read([call, output, call, output]);
    expect(new Set(out.calls.map((row) => row.id)).size).toBe(2);
    expect(new Set(out.results.map((row) => row.id)).size).toBe(2);
  });
});

describe('whether a result failed', () => {
  const errorOf = (output: unknown, type = 'function_call_output') =>
    read([item(type, { call_id: 'c', output })]).results[0]?.is_error;
  const envelope = (metadata: unknown): string => JSON.stringify({ output: 'text', metadata });

  test.each([
    ['an envelope with exit code 0', envelope({ exit_code: 0 }), false],
    ['an envelope with another exit code', envelope({ exit_code: 2 }), true],
    ['an envelope with a negative one', envelope({ exit_code: -1 }), true],
    ['an envelope without one', envelope({ duration_seconds: 1 }), null],
    ['an exit code that is no number', envelope({ exit_code: '1' }), null],
    ['other JSON', '{"task_name":"/root/scout"}', null],
    [
      'a header with exit code 0',
      'Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nhi',
      false,
    ],
    ['a header with another', 'Process exited with code 127\nOutput:\nnot found', true],
    ['the older header', 'Exit code: 1\nWall time: 0.1 seconds\nOutput:\n', true],
    ['a process that runs on', 'Chunk ID: a\nProcess running with session ID 7\nOutput:\n', null],
    ['an exit code after the header', 'Wall time: 1\nOutput:\nProcess exited with code 3\n', null],
    ['an exit code without a header', 'Process exited with code 3', null],
    ['a log that speaks of one far below', `${'x\n'.repeat(4000)}Exit code: 1\nOutput:\n`, null],
    ['words', 'Plan updated', null],
    ['nothing', '', null],
  ])('%s', (_what, output, expected) => {
    expect(errorOf(output)).toBe(expected);
    expect(errorOf(output, 'custom_tool_call_output')).toBe(expected);
  });

  const blocks = (...texts: string[]) => texts.map((text) => ({ type: 'input_text', text }));
  test('blocks are read as their joined texts', () => {
    expect(errorOf(blocks('Script failed\nWall time 0.2 seconds\nOutput:\n', 'Script error:\nno'))).toBe(true);
    expect(errorOf(blocks('Script completed\nWall time 0.2 seconds\nOutput:\n', 'Script failed\n'))).toBeNull();
    expect(errorOf(blocks('Process exited with code 0', 'Output:\nhi'))).toBe(false);
    expect(errorOf([])).toBeNull();
  });

  test('the text of an envelope is its output, the rest of it stays as JSON', () => {
    const row = read([item('function_call_output', { call_id: 'c', output: envelope({ exit_code: 1 }) })]).results[0];
    expect(row).toMatchObject({ output: 'text', output_json: '{"metadata":{"exit_code":1}}' });
  });

  test('blocks give their texts, other values their JSON', () => {
    const rows = read([
      item('custom_tool_call_output', {
        call_id: 'a',
        output: [...blocks('x', 'y'), { type: 'input_image', image_url: 'data:' }],
      }),
      item('function_call_output', { call_id: 'b', output: { content: 'x' } }),
      item('tool_search_output', { call_id: 'c', tools: [{ name: 't' }] }),
      item('function_call_output', { call_id: 'd' }),
    ]).results;
    expect(rows.map((row) => [row.call_id, row.output, row.output_json])).toEqual([
      ['a', 'x\ny', null],
      ['b', null, '{"content":"x"}'],
      ['c', null, '[{"name":"t"}]'],
      ['d', null, null],
    ]);
  });

  test('web searches and images have no result row', () => {
    expect(
      read([item('web_search_call', { id: 'w' }), item('image_generation_call', { id: 'i', result: 'AA' })]).results,
    ).toEqual([]);
  });
});

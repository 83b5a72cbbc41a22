import { describe, expect, test } from 'vitest';
import { ScopedError } from '../../../src/framing/errors.ts';
import { decode, made } from './driver.ts';
import { PARENT } from './lines.ts';

const NAME = { storeKind: 'codex-document', name: `rollout-2025-04-20-${PARENT}` };
const documentOf = (value: unknown) => decode(made(PARENT, [value], NAME));

describe('documents of early 2025', () => {
  test('items are placed by their pointer and numbered by their index', () => {
    const out = documentOf({
      session: { id: 'doc', timestamp: '2025-04-20T08:00:00.000Z' },
      items: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c' },
        { type: 'function_call_output', call_id: 'c', output: '{"output":"","metadata":{"exit_code":1}}' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        'no item',
        { type: 'riddle' },
      ],
    });
    expect(
      out.messages.map((row) => [row.text ?? row.thinking, row.at.position.ordinal, row.at.position.locator]),
    ).toEqual([
      ['hi', 0, '/items/0'],
      ['hm', 3, '/items/3'],
    ]);
    expect([out.calls.length, out.results[0]?.is_error, out.lineErrors]).toEqual([1, true, 1]);
    expect(out.unknownTypes).toEqual({ 'response_item/riddle': 1 });
    expect(out.sessions[0]).toMatchObject({ session_id: 'doc', resume_command: null });
    expect(out.observations).toEqual([]);
  });

  test.each([[[]], [{ items: [] }], [{ session: {}, items: 'none' }]])(
    '%j is a foreign document, not an empty one',
    (value) => {
      expect(() => documentOf(value)).toThrow(ScopedError);
    },
  );

  test('a session without an id is known by the file name', () => {
    expect(documentOf({ session: {} }).sessions[0]?.session_id).toBe(PARENT);
  });
});

describe('bare rollouts of 2025', () => {
  const environment = '<environment_context>\n  <cwd>/home/dev/old</cwd>\n</environment_context>';
  const message = (text: string) => ({
    type: 'message',
    id: null,
    role: 'user',
    content: [{ type: 'input_text', text }],
  });
  const header = { id: PARENT, timestamp: '2025-06-10T09:15:00.123Z', instructions: null, git: { branch: 'main' } };

  test('header, items and markers stand without envelope; times stay null', () => {
    const out = decode(made(PARENT, [header, { record_type: 'state' }, message(environment), message('hi')]));
    expect(out.sessions[0]).toMatchObject({ session_id: PARENT, cwd: '/home/dev/old', git_branch: 'main' });
    expect(out.messages.map((row) => [row.text, row.at.timestamp, row.is_meta])).toEqual([
      [environment, null, true],
      ['hi', null, false],
    ]);
    expect(out.ignoredTypes).toEqual({ 'record_type/state': 1 });
  });

  test('the first environment names the folder; a prompt that speaks of one does not', () => {
    const later = environment.replace('old', 'new');
    expect(
      decode(made(PARENT, [header, message('<cwd>/no</cwd>'), message(environment), message(later)])).sessions[0]?.cwd,
    ).toBe('/home/dev/old');
  });
});

describe('prompt history', () => {
  test('every entry is a row with its seconds, and no session comes of it', () => {
    const out = decode(
      made('h', [{ session_id: PARENT, ts: 1770793200, text: 'run' }, { ts: 'soon', text: 7 }, []], {
        storeKind: 'codex-history',
        name: 'history',
      }),
    );
    expect(out.histories).toEqual([
      {
        ordinal: 0,
        session_id: PARENT,
        text: 'run',
        timestamp: 1770793200000,
        timestamp_native: 1770793200,
        unit: 's',
        cwd: null,
      },
      { ordinal: 1, session_id: null, text: null, timestamp: null, timestamp_native: null, unit: null, cwd: null },
    ]);
    expect([out.sessions.length, out.lineErrors]).toEqual([0, 1]);
  });
});

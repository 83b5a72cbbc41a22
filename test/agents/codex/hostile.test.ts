import { describe, expect, test } from 'vitest';
import { decode, decodePart, made, Recording, resolveAll } from './driver.ts';
import { assistant, CHILD, count, event, item, line, meta, PARENT, task, user, vector } from './lines.ts';

describe('damaged and hostile lines', () => {
  test('each damaged line is one error, and what follows is read', () => {
    const torn = '{"timestamp":"2026-02-11T07:00:03.000Z","type":"response_item","payload';
    const out = decode(
      made(PARENT, [
        meta(PARENT),
        torn,
        'null',
        '[]',
        '"text"',
        '{"type":"response_item"}',
        '{"type":"event_msg","payload":[]}',
        user('hi'),
      ]),
    );
    expect([out.lineErrors, out.messages.length]).toEqual([6 + 0, 1]);
  });

  test('a torn line of a type that is passed over is still an error', () => {
    const compacted = JSON.stringify(
      line('compacted', { message: 'x'.repeat(500), replacement_history: [{ a: '}}' }] }),
    );
    for (const end of [60, 120, 400, compacted.length - 1])
      expect(decode(made(PARENT, [meta(PARENT), user('a'), compacted.slice(0, end), user('b')])).lineErrors).toBe(1);
    expect(decode(made(PARENT, [meta(PARENT), user('a'), compacted, user('b')])).lineErrors).toBe(0);
  });

  test('a line that only looks like one that is passed over is read', () => {
    const odd =
      '{"timestamp":"2026-01-01T09:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"\\"type\\":\\"compacted\\""}]}}';
    expect(decode(made(PARENT, [meta(PARENT), odd])).messages[0]?.text).toBe('"type":"compacted"');
  });

  test('keys that objects inherit do no harm', () => {
    const payload =
      '{"timestamp":"2026-01-01T09:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","__proto__":{"id":"evil"},"content":[{"type":"input_text","text":"hi","__proto__":{"text":"evil"}}]}}';
    const header = `{"timestamp":"2026-01-01T09:00:00.000Z","type":"session_meta","payload":{"__proto__":{"cwd":"/evil"},"id":"${PARENT}","git":{"__proto__":{"branch":"evil"}}}}`;
    const out = decode(made(PARENT, [header, payload, '{"__proto__":{"type":"event_msg"}}']));
    expect(out.sessions[0]).toMatchObject({ session_id: PARENT, cwd: null, git_branch: null });
    expect(out.messages[0]).toMatchObject({ text: 'hi', message_id: null });
    expect(out.unknownTypes).toEqual({ untyped: 1 });
    expect(({} as Record<string, unknown>)['id']).toBeUndefined();
  });

  test('types named like inherited properties are unknown types', () => {
    const out = decode(
      made(PARENT, [
        meta(PARENT),
        item('constructor', {}),
        event('toString', {}),
        line('valueOf', {}),
        line('__proto__', {}),
      ]),
    );
    expect(out.unknownTypes).toMatchObject({ 'response_item/constructor': 1, 'event_msg/toString': 1, valueOf: 1 });
    expect(out.lineErrors).toBe(0);
  });

  test('fields of the wrong type are absent, the row stays, and lost contents are told', () => {
    const out = decode(
      made(PARENT, [
        meta(PARENT),
        item('message', { role: 'user', content: 'plain' }),
        item('message', { role: 'assistant', content: { text: 'x' }, id: 5 }),
        item('message', { role: 'user', content: [null, 7, { text: 5 }, { type: 'input_text', text: 'kept' }] }),
        item('reasoning', { summary: 'no', content: [{ text: 3 }] }),
        item('function_call', { name: 4, call_id: {}, arguments: [1] }),
        { ...assistant('when'), timestamp: 12 },
        event('token_count', { info: 'none' }),
        event('thread_settings_applied', { thread_settings: [] }),
        task('t'),
      ]),
    );
    // Two contents of messages, and the counters: what is lost with them must not pass for complete.
    expect(out.badRecords).toEqual(['wrong_type', 'wrong_type', 'wrong_type']);
    expect(out.messages.map((row) => row.text)).toEqual(['plain', null, 'kept', 'when']);
    expect(out.messages.at(-1)?.at).toMatchObject({ timestamp: null, timestampText: null });
    expect(out.calls).toMatchObject([{ name: null, call_id: null, arguments: '[1]' }]);
  });

  test('ordinals that repeat or fall name no line', () => {
    const rows = [5, 6, 6, 2, 7, -1, 1.5].map((ordinal, i) => ({ ...user(`${i}`), ordinal }));
    const out = decode(made(PARENT, [meta(PARENT), ...rows]));
    expect(new Set(out.messages.map((row) => row.id)).size).toBe(rows.length);
    expect(out.messages.map((row) => row.at.nativeId !== null)).toEqual([true, true, false, false, true, false, false]);
  });

  test('files that claim each other as parents are read once each', () => {
    const a = made(PARENT, [
      meta(PARENT, { forked_from_id: CHILD }),
      meta(CHILD),
      task('x'),
      count(vector(5, 0, 5), vector(5, 0, 5)),
    ]);
    const b = made(CHILD, [
      meta(CHILD, { forked_from_id: PARENT }),
      meta(PARENT),
      task('x'),
      count(vector(5, 0, 5), vector(5, 0, 5)),
    ]);
    const kin = resolveAll([a, b]);
    expect([a, b].map((one) => decode(one, kin.get(one)).observations.length)).toEqual([0, 0]);
  });

  test('a saved state of another version is not gone on from', () => {
    const one = made(PARENT, [meta(PARENT)]);
    const run = { from: { byte: one.bytes.length, ordinal: 1 }, to: one.bytes.length, resume: { version: 0 } };
    expect(() => decodePart(one, undefined, new Recording(one.source), run)).toThrow();
  });
});

test('an image of megabytes inside a prompt, and again inside compacted, is one row', () => {
  const image = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(4 * 1024 * 1024)}` };
  const content = [{ type: 'input_text', text: 'look' }, image];
  const prompt = item('message', { role: 'user', content });
  const compacted = line('compacted', {
    message: '',
    replacement_history: [{ type: 'message', role: 'user', content }],
  });
  const out = decode(made(PARENT, [meta(PARENT), prompt, assistant('a cat'), compacted]));
  expect(out.messages.map((row) => row.text)).toEqual(['look', 'a cat']);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readHead, timestampText } from '../../../src/agents/codex/head.ts';
import { isClosed, memberValue, plainString, scanTokenCount } from '../../../src/agents/codex/scan.ts';
import { readTokenCount } from '../../../src/agents/codex/usage.ts';
import { count, line } from './lines.ts';

const bytesOf = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('the head of a line', () => {
  test('is read in the writer’s spelling, with and without an ordinal', () => {
    const plain = bytesOf(line('event_msg', { type: 'token_count', info: null }));
    expect(readHead(plain)).toMatchObject({ type: 'event_msg', payloadType: 'token_count', ordinal: null });
    const head = readHead(bytesOf('{"timestamp":"2026","ordinal":12,"type":"compacted","payload":{"message":""}}'));
    expect(head).toMatchObject({ type: 'compacted', payloadType: null, ordinal: 12 });
    expect(head === null ? null : timestampText(bytesOf('{"timestamp":"2026"'), head)).toBe('2026');
  });

  test.each([
    '{"type":"compacted","payload":{}}',
    '{ "timestamp":"2026","type":"compacted","payload":{}}',
    '{"timestamp":"a\\"b","type":"compacted","payload":{}}',
    '{"timestamp":"2026","type":"comp\\u0061cted","payload":{}}',
    '{"timestamp":"2026","ordinal":"1","type":"compacted","payload":{}}',
    '{"timestamp":"2026","type":"compacted","payload":[]}',
    '{"timestamp":"2026","type":"event_msg","payload":{"type":"a\\tb"}}',
    '{"timestamp":"2026',
    '',
  ])('any other spelling is left to the parser: %s', (text) => {
    expect(readHead(bytesOf(text))).toBeNull();
  });

  test('the words of one line are not those of another', () => {
    const heads = ['abcd', 'abce', 'abbd', 'zbcd', 'abcdd'].map((type) => readHead(bytesOf(line(type, {})))?.type);
    expect(heads).toEqual(['abcd', 'abce', 'abbd', 'zbcd', 'abcdd']);
  });
});

describe('a closed line', () => {
  test('is closed as a whole and at no earlier byte', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const bytes = bytesOf(value);
        expect(isClosed(bytes)).toBe(true);
        for (let end = 0; end < bytes.length; end++) expect(isClosed(bytes.subarray(0, end))).toBe(false);
        expect(isClosed(Buffer.concat([bytes, bytesOf('}')]))).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test('is told from one torn within an image or behind an escape', () => {
    const long = bytesOf({ a: { b: `${'x'.repeat(5000)}"}}\\` } });
    expect(isClosed(long)).toBe(true);
    for (let end = long.length - 12; end < long.length; end++) expect(isClosed(long.subarray(0, end))).toBe(false);
  });
});

describe('members', () => {
  const at = (object: unknown, key: string) => {
    const bytes = bytesOf(object);
    const value = memberValue(bytes, 1, Buffer.from(key));
    return value === -1 ? null : plainString(bytes, value);
  };
  test('are found at the top of the object only', () => {
    expect(at({ cwd: '"model":"no"', deep: { model: 'no' }, list: [{ model: 'no' }, 3], model: 'yes' }, 'model')).toBe(
      'yes',
    );
    expect(at({ deep: { model: 'no' } }, 'model')).toBeNull();
    expect(at({ model: 'with "quotes"' }, 'model')).toBeNull();
    expect(at({ model: 4 }, 'model')).toBeNull();
  });

  test('are found as the parser finds them, or not at all', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'model', 'models'), fc.jsonValue()), (object) => {
        const found = at(object, 'model');
        const parsed = object['model'];
        const plain = typeof parsed === 'string' && !JSON.stringify(parsed).includes('\\') ? parsed : null;
        expect(found).toBe(plain);
      }),
    );
  });
});

test('token counts are scanned as they are parsed, or left to the parser', () => {
  const counter = fc.oneof(
    fc.nat(),
    fc.constantFrom(-1, 1.5, '7', null, undefined, 1e21, 1.2345678901234568e20, 2 ** 53),
  );
  const vector = fc.record(
    {
      input_tokens: counter,
      cached_input_tokens: counter,
      cache_write_input_tokens: counter,
      output_tokens: counter,
      reasoning_output_tokens: counter,
      total_tokens: counter,
    },
    { requiredKeys: [] },
  );
  let scanned = 0;
  fc.assert(
    fc.property(
      fc.oneof(vector, fc.record({ input_tokens: fc.nat(), total_tokens: fc.nat() })),
      vector,
      (total, last) => {
        const value = count(total, last);
        const bytes = bytesOf(value);
        const head = readHead(bytes);
        const found = head === null ? undefined : scanTokenCount(bytes, head.end);
        if (found === undefined) return;
        scanned++;
        expect(found).toEqual(readTokenCount(JSON.parse(bytes.toString()).payload));
      },
    ),
    { numRuns: 2000 },
  );
  expect(scanned).toBeGreaterThan(5);
});

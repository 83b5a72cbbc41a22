/** The scanner finds what `JSON.parse` finds, and takes for JSON what `JSON.parse` takes for it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashAscii } from '../../../src/agents/claude/id-hash.ts';
import { IdTable, OrdinalCursor } from '../../../src/agents/claude/id-table.ts';
import { ObjectScanner, type ScanMode, scanPaths } from '../../../src/framing/json-scan.ts';
import { hash53 } from '../../../src/records/identity.ts';

const PATHS = ['a', 'b', 'n', 'n.a', 'n.n', 'n.n.b', 'long key', 'é', ''];
const wanted = scanPaths(PATHS);

/** JSON text of any value, with white space and escapes where they may stand, and with equal keys. */
const space = fc.constantFrom('', '', '', ' ', '\t', '\n \r');
const anyString = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((s) => JSON.stringify(s)),
  fc.constantFrom(
    '"\\""',
    '"\\\\"',
    '"\\\\\\""',
    '"\\u0061"',
    '"\\/\\b\\f"',
    '"\\ud800"',
    `"${'x'.repeat(70)}\\n${'y'.repeat(9)}"`,
  ),
);
const key = fc.oneof(
  fc.constantFrom(
    '"a"',
    '"b"',
    '"n"',
    '"long key"',
    '"é"',
    '""',
    '"\\u0061"',
    '"n\\u002ea"',
    '"\\u00e9"',
    '"__proto__"',
  ),
  // V8 13.6 (Node 24) takes keys with escapes for a key of one backslash that an equal object had before.
  anyString.filter((s) => !(JSON.parse(s) as string).includes('\\')),
);
const scalar = fc.oneof(
  anyString,
  fc.constantFrom(
    'null',
    'true',
    'false',
    '0',
    '-0',
    '-1.5e+3',
    '12345678901234567890',
    '1E400',
    '0.1',
    '999999999999999',
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
);
const { value, object } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('object'), tie('array')),
  array: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 4 }))
    .map(([s, items]) => `[${s}${items.join(`${s},${s}`)}${s}]`),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }))
    .map(([s, members]) => `{${s}${members.map(([k, v]) => `${k}${s}:${s}${v}`).join(`${s},${s}`)}${s}}`),
}));

/** The bytes somewhere in a larger memory: alignment and neighbours must not matter. */
const placed = (text: string, offset: number): Buffer => {
  const bytes = Buffer.from(text);
  const memory = Buffer.alloc(bytes.length + offset + 5, '"');
  bytes.copy(memory, offset);
  return memory.subarray(offset, offset + bytes.length);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);
const at = (v: unknown, path: string): unknown =>
  path.split('.').reduce((inner: unknown, k) => (isObject(inner) && Object.hasOwn(inner, k) ? inner[k] : undefined), v);

describe.each(['strict', 'loose'] as const)('%s', (mode: ScanMode) => {
  const scanner = new ObjectScanner(wanted, mode);

  test('finds the values that JSON.parse gives', () => {
    fc.assert(
      fc.property(object, fc.nat(7), (text, offset) => {
        expect(scanner.scan(placed(text, offset))).toBe(true);
        const parsed = JSON.parse(text) as unknown;
        PATHS.forEach((path, slot) => {
          const expected = at(parsed, path);
          expect(scanner.has(slot), path).toBe(expected !== undefined);
          if (scanner.has(slot)) expect(scanner.parse(slot), path).toEqual(expected);
          expect(scanner.text(slot), path).toBe(typeof expected === 'string' ? expected : null);
          expect(scanner.number(slot), path).toBe(
            typeof expected === 'number' && Number.isFinite(expected) ? expected : null,
          );
          expect(scanner.isTrue(slot), path).toBe(expected === true);
          expect(scanner.isObject(slot), path).toBe(isObject(expected));
          expect(scanner.isArray(slot), path).toBe(Array.isArray(expected));
          expect(scanner.isPresent(slot), path).toBe(expected !== undefined && expected !== null);
          if (typeof expected === 'string' && /^[\x20-\x7e]*$/.test(expected) && !/["\\]/.test(expected)) {
            expect(scanner.equals(slot, expected), path).toBe(true);
            expect(scanner.equals(slot, `${expected}x`), path).toBe(false);
          }
          if (Array.isArray(expected))
            expect(scanner.elements(slot).map((e) => JSON.parse(e.toString()) as unknown)).toEqual(expected);
        });
      }),
      { numRuns: 1500 },
    );
  });

  test('takes no value for an object that is none', () => {
    fc.assert(
      fc.property(value, fc.nat(7), (text, offset) => {
        expect(scanner.scan(placed(text, offset))).toBe(isObject(JSON.parse(text)));
      }),
      { numRuns: 1000 },
    );
  });
});

/** Damage: bytes cut out, put in or changed. */
const damaged = fc
  .tuple(
    object,
    fc.nat(),
    fc.nat(6),
    fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '\u0001', 'x', '0', '-', '.', 'e', 'tru', 'null', ' '),
  )
  .map(([text, where, length, insert]) => {
    const from = where % (text.length + 1);
    return text.slice(0, from) + insert + text.slice(from + length);
  });

test('strict: damaged text is taken for JSON exactly where JSON.parse takes it', () => {
  const scanner = new ObjectScanner(wanted, 'strict');
  fc.assert(
    fc.property(damaged, fc.nat(7), (text, offset) => {
      // A lone surrogate cannot be written as bytes.
      const bytes = placed(text, offset);
      expect(scanner.scan(bytes)).toBe(isObject(parse(bytes.toString())));
    }),
    { numRuns: 8000 },
  );
});

test('loose: no damage is seen where there is none, and torn text is always seen', () => {
  const scanner = new ObjectScanner(wanted, 'loose');
  fc.assert(
    fc.property(damaged, fc.nat(7), (text, offset) => {
      const bytes = placed(text, offset);
      if (isObject(parse(bytes.toString()))) expect(scanner.scan(bytes)).toBe(true);
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(object, fc.nat(), (text, length) => {
      const torn = text.slice(0, length % text.length);
      expect(scanner.scan(placed(torn, 3))).toBe(false);
      if (torn !== '') expect(scanner.scan(placed(torn + text, 3)) && !isObject(parse(torn + text))).toBe(false);
    }),
    { numRuns: 1500 },
  );
});

test('a byte that closes the line before its end is seen, also at the end of memory', () => {
  const scanner = new ObjectScanner(wanted, 'strict');
  for (let length = 0; length < 12; length++) {
    const exact = new Uint8Array(Buffer.from(`{"a":"${'x'.repeat(length)}"}`));
    expect(scanner.scan(exact)).toBe(true);
    expect(scanner.text(0)).toBe('x'.repeat(length));
    expect(scanner.scan(exact.subarray(0, exact.length - 2))).toBe(false);
    expect(new ObjectScanner(wanted, 'loose').scan(exact.subarray(0, exact.length - 2))).toBe(false);
  }
});

test('ids are hashed from bytes as from text', () => {
  const scanner = new ObjectScanner(wanted, 'strict');
  fc.assert(
    fc.property(fc.oneof(fc.uuid(), fc.string(), fc.string({ unit: 'binary' })), (id) => {
      scanner.scan(Buffer.from(JSON.stringify({ a: id })));
      const hash = hashAscii(scanner.memory, scanner.starts[0]! + 1, scanner.ends[0]! - 1);
      const isPlain = /^[\x21-\x5b\x5d-\x7f][\x20-\x5b\x5d-\x7f]*$/.test(id) && !id.includes('"');
      expect(hash).toBe(isPlain ? hash53(id) : -1);
    }),
    { numRuns: 2000 },
  );
});

test('a table numbers ids in the order of their adding', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 2000 }), (ids) => {
      const table = new IdTable();
      const order = [...new Set(ids)];
      // Multiples of 2^32 fall on the same place of the table.
      for (const id of ids) expect(table.add(id * 4294967296 + 1)).toBe(order.indexOf(id));
      expect(order.map((id) => table.find(id * 4294967296 + 1))).toEqual(order.map((_, i) => i));
      expect([table.size, table.find(5)]).toEqual([order.length, -1]);
    }),
    { numRuns: 50 },
  );
});

test('a cursor knows each of its ordinals, also where some are not asked for', () => {
  const cursor = new OrdinalCursor(Int32Array.of(2, 3, 7, 9));
  expect([0, 3, 3, 4, 7, 10].map((ordinal) => cursor.has(ordinal))).toEqual([false, true, true, false, true, false]);
});

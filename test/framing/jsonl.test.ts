/** Framing of JSON Lines: exact ranges, limits, and every kind of damage. */
import { appendFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ByteSource, openByteSource } from '../../src/framing/byte-source.ts';
import { ScopedError } from '../../src/framing/errors.ts';
import { JsonlReader } from '../../src/framing/jsonl.ts';
import { defaultLimits, type ReadLimits } from '../../src/framing/limits.ts';
import { temporaryFolder } from '../support/command.ts';

interface Seen {
  ordinal: number;
  start: number;
  end: number;
  bytes: string;
  json: unknown;
  error: string | null;
}

const memorySource = (bytes: Buffer): ByteSource => ({
  size: bytes.length,
  stat: { size: bytes.length, mtimeMs: 0, ctimeMs: 0, inode: 0 },
  truncated: false,
  damage: null,
  whole: null,
  read: (into, offset, length, position) =>
    bytes.copy(into, offset, position, Math.min(position + length, bytes.length)),
  checkUnchanged: () => undefined,
  windows: () => null,
  close: () => undefined,
});

function readAll(
  source: ByteSource,
  limits: ReadLimits = defaultLimits,
  options: ConstructorParameters<typeof JsonlReader>[2] = {},
) {
  const reader = new JsonlReader(source, limits, options);
  const seen: Seen[] = [];
  for (const frame of reader.frames()) {
    let json: unknown = null;
    let error: string | null = null;
    try {
      json = frame.json();
    } catch (caught) {
      expect(caught).toBeInstanceOf(ScopedError);
      error = (caught as ScopedError).code;
    }
    seen.push({
      ordinal: frame.ordinal,
      start: frame.byteStart!,
      end: frame.byteEnd!,
      bytes: frame.bytes().toString('latin1'),
      json,
      error,
    });
  }
  return { seen, reader };
}

/**
 * The definition, without a buffer: split at 0x0A behind a byte order mark, drop blank lines, skip leading NUL bytes
 * and one CR.
 */
function bySplitting(bytes: Buffer): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  let from = bytes.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? 3 : 0;
  for (let at = bytes.indexOf(10); at !== -1; from = at + 1, at = bytes.indexOf(10, from)) {
    let start = from;
    while (start < at && bytes[start] === 0) start++;
    const end = at > start && bytes[at - 1] === 13 ? at - 1 : at;
    if (!/^[ \t\r]*$/.test(bytes.toString('latin1', start, end))) ranges.push({ start, end });
  }
  return ranges;
}

const anyLine = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('', ' ', '\r', '\0\0{"a":1}', '{"a":"\u2028"}', '{"torn":', '\ufeff{}')
    .map((text) => Buffer.from(text)),
);

describe('framing', () => {
  it('gives the byte ranges of the definition, with any buffer size, for any bytes', () => {
    fc.assert(
      fc.property(
        fc.array(anyLine, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n', ''),
        fc.integer({ min: 1, max: 40 }),
        (lines, last, chunkBytes) => {
          const bytes = Buffer.concat(
            lines.flatMap((line, i) => [line, Buffer.from(i === lines.length - 1 ? last : '\n')]),
          );
          const { seen, reader } = readAll(memorySource(bytes), defaultLimits, { chunkBytes });
          expect(seen.map(({ start, end }) => ({ start, end }))).toEqual(bySplitting(bytes));
          for (const { start, end, bytes: framed } of seen) expect(framed).toBe(bytes.toString('latin1', start, end));
          expect(seen.map((s) => s.ordinal)).toEqual(seen.map((_, i) => i));
          expect(reader.lastCompleteByte).toBe(bytes.lastIndexOf(10) + 1);
          expect(reader.tornBytes).toBe(bytes.length - reader.lastCompleteByte);
          const whole = readAll({ ...memorySource(bytes), whole: bytes });
          expect(whole.seen).toEqual(seen);
          expect([whole.reader.lastCompleteByte, whole.reader.tornBytes]).toEqual([
            reader.lastCompleteByte,
            reader.tornBytes,
          ]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('goes on at a saved byte with the same ordinals and ranges', () => {
    const bytes = Buffer.from('{"a":1}\n\n{"b":2}\r\nbad\n{"c":3}\n');
    const whole = readAll(memorySource(bytes)).seen;
    for (let cut = 1; cut < whole.length; cut++) {
      const from = { byte: whole[cut]!.start, ordinal: cut };
      expect(readAll(memorySource(bytes), defaultLimits, { from }).seen).toEqual(whole.slice(cut));
    }
  });

  it('gives of a filtered reading just the lines that hold the mark, under their own ordinals', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{"a":1}', '{"mark":2}', '', 'mark', '\0{"x":"mark"}', '{"ma', 'rk"}'), {
          maxLength: 12,
        }),
        fc.integer({ min: 1, max: 24 }),
        (lines, chunkBytes) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          const all = readAll(memorySource(bytes), defaultLimits, { chunkBytes }).seen;
          const some = readAll(memorySource(bytes), defaultLimits, { chunkBytes, only: Buffer.from('mark') });
          expect(some.seen).toEqual(all.filter((s) => s.bytes.includes('mark')));
          expect(some.reader.records).toBe(all.length);
        },
      ),
    );
  });

  it('drains a line over the limit without holding it, names its range and goes on', () => {
    const long = `{"x":"${'y'.repeat(500)}"}`;
    const bytes = Buffer.from(`{"a":1}\n${long}\n{"b":2}\n`);
    for (const chunkBytes of [8, 64, 1024]) {
      const { seen } = readAll(memorySource(bytes), { ...defaultLimits, maxLine: 100 }, { chunkBytes });
      expect(seen.map((s) => s.error)).toEqual([null, 'line_too_long', null]);
      expect([seen[1]!.start, seen[1]!.end]).toEqual([8, 8 + long.length]);
      expect(seen[2]!.json).toEqual({ b: 2 });
    }
  });

  it('takes a line of exactly the limit', () => {
    const bytes = Buffer.from('"12345678"\n"123456789"\n');
    const { seen } = readAll(memorySource(bytes), { ...defaultLimits, maxLine: 10 }, { chunkBytes: 4 });
    expect(seen.map((s) => s.error)).toEqual([null, 'line_too_long']);
  });

  it('takes a byte order mark for no part of the first record, and one elsewhere for what it is', () => {
    const { seen } = readAll(memorySource(Buffer.from('\uFEFF{"a":1}\n\uFEFF{"a":2}\n{"a":"\uFEFF"}\n')));
    expect(seen.map(({ start, json, error }) => [start, json, error])).toEqual([
      [3, { a: 1 }, null],
      [11, null, 'malformed_json'],
      [22, { a: '\uFEFF' }, null],
    ]);
  });

  it('says which lines are not UTF-8 and which are no JSON, and reads the others', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":"é"}\n'),
      Buffer.from([0x22, 0xc3, 0x28, 0x22, 10]),
      Buffer.from('{"b":\n{"c":"\u2028\u0085"}\n'),
    ]);
    const { seen } = readAll(memorySource(bytes));
    expect(seen.map((s) => s.error)).toEqual([null, 'invalid_utf8', 'malformed_json', null]);
    expect(seen[3]!.json).toEqual({ c: '\u2028\u0085' });
  });

  it('refuses a line of millions of tiny values, and takes a long one of text', () => {
    const tiny = `[${'[],'.repeat(4_100_000)}0]`;
    const text = JSON.stringify(['[,{'.repeat(4_100_000)]);
    const { seen } = readAll(memorySource(Buffer.from(`${tiny}\n${text}\n{"after":1}\n`)));
    expect(seen.map((s) => s.error)).toEqual(['too_many_values', null, null]);
  });

  it('parses nesting that would overflow a recursive parser, or says that it cannot', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const { seen } = readAll(memorySource(Buffer.from(`${deep}\n{"after":1}\n`)));
    expect(seen).toHaveLength(2);
    expect(seen[1]!.json).toEqual({ after: 1 });
  });
});

describe('opening a source', () => {
  const write = (content: string | Buffer, name = 'file.jsonl'): string => {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, content);
    return path;
  };
  const codeOf = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: unknown) => (error as ScopedError).code,
    );

  it('does not follow links, and says what is wrong with what is no file', async () => {
    const path = write('{}\n');
    const link = join(temporaryFolder(), 'link.jsonl');
    symlinkSync(path, link);
    expect(await codeOf(openByteSource(link, defaultLimits))).toBe('unreadable');
    expect(await codeOf(openByteSource(temporaryFolder(), defaultLimits))).toBe('not_a_file');
    expect(await codeOf(openByteSource(`${path}.absent`, defaultLimits))).toBe('unreadable');
  });

  it('refuses a source over the limit, and one shorter than the byte to stop at', async () => {
    const path = write('0123456789');
    expect(await codeOf(openByteSource(path, { ...defaultLimits, maxFile: 9 }))).toBe('file_too_large');
    expect(await codeOf(openByteSource(path, { ...defaultLimits, stopAtByte: 11 }))).toBe('shorter_than_stop');
    const source = await openByteSource(path, { ...defaultLimits, stopAtByte: 4 });
    expect(source.size).toBe(4);
    source.close();
  });

  it('takes growth for no change, a rewrite or a cut for one', async () => {
    const path = write(`${'{"a":1}\n'.repeat(100)}`);
    const grown = await openByteSource(path, defaultLimits);
    appendFileSync(path, '{"b":2}\n');
    expect(() => grown.checkUnchanged()).not.toThrow();
    grown.close();
    const rewritten = await openByteSource(path, defaultLimits);
    writeFileSync(path, `${'{"z":1}\n'.repeat(101)}`);
    expect(() => rewritten.checkUnchanged()).toThrow(/rewritten/);
    rewritten.close();
    const cut = await openByteSource(path, defaultLimits);
    truncateSync(path, 10);
    expect(() => cut.checkUnchanged()).toThrow(/rewritten/);
    expect(() => cut.read(Buffer.alloc(100), 0, 100, 0)).toThrow(/cut to 10 bytes/);
    cut.close();
  });

  it('decompresses zstd, small and spooled, keeps what precedes a torn end, and refuses what is none', async () => {
    const lines = Array.from({ length: 200_000 }, (_, i) => `{"n":${i},"text":"${'x'.repeat(60)}"}\n`).join('');
    for (const content of ['{"a":1}\n', lines]) {
      const source = await openByteSource(write(zstdCompressSync(content), 'file.jsonl.zst'), defaultLimits);
      const { seen } = readAll(source);
      expect(seen.length).toBe(content.split('\n').length - 1);
      expect(source.size).toBe(Buffer.byteLength(content));
      source.close();
    }
    const compressed = zstdCompressSync(lines);
    const torn = await openByteSource(
      write(compressed.subarray(0, compressed.length - 500), 'file.jsonl.zst'),
      defaultLimits,
    );
    expect(torn.truncated).toBe(true);
    expect(readAll(torn).seen.length).toBeGreaterThan(0);
    torn.close();
    expect(await codeOf(openByteSource(write('', 'file.jsonl.zst'), defaultLimits))).toBe('none');
    expect(await codeOf(openByteSource(write('no zstd at all', 'file.jsonl.zst'), defaultLimits))).toBe('bad_zstd');
    expect(
      await codeOf(openByteSource(write(compressed, 'file.jsonl.zst'), { ...defaultLimits, maxFile: 1_000_000 })),
    ).toBe('file_too_large');
  });

  it('reads all frames of a zstd file, whatever stands between them, and says where one is damaged', async () => {
    const lines = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => `{"${name}":${i},"text":"${'x'.repeat(i % 50)}"}\n`).join('');
    const [a, b, c] = [lines('a', 3), lines('b', 90_000), lines('c', 2)];
    const frame = (content: string, options = {}) => zstdCompressSync(content, options);
    const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
    const skipped = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 0x28, 0xb5, 0x2f]);
    const open = (...parts: Buffer[]) => openByteSource(write(Buffer.concat(parts), 'file.jsonl.zst'), defaultLimits);

    const whole = await open(frame(a), skipped, frame(b, checked), frame(''), frame(c));
    expect([whole.size, whole.truncated, whole.damage]).toEqual([Buffer.byteLength(a + b + c), false, null]);
    const texts = readAll(whole).seen.map((line) => line.bytes);
    // A difference of megabytes of text takes minutes to print.
    expect(`${texts.join('\n')}\n` === a + b + c).toBe(true);
    whole.close();

    const frameB = frame(b);
    const torn = await open(frame(a), frameB.subarray(0, frameB.length >> 1));
    expect([torn.truncated, torn.damage]).toEqual([true, null]);
    expect(
      readAll(torn)
        .seen.slice(0, 3)
        .map((line) => line.bytes)
        .join('\n'),
    ).toBe(a.trimEnd());
    torn.close();

    const foreign = await open(frame(a), Buffer.from('plain text'), frame(c));
    const at = frame(a).length;
    expect([foreign.truncated, foreign.damage]).toEqual([false, `what stands from byte ${at} on is no zstd frame`]);
    expect(readAll(foreign).seen).toHaveLength(3);
    foreign.close();

    const broken = frame(c, checked);
    broken[broken.length - 1]! ^= 1;
    const damaged = await open(frame(a), broken);
    expect(damaged.damage).toMatch(new RegExp(`^the zstd frame at byte ${at} cannot be decompressed`));
    damaged.close();
  });
});

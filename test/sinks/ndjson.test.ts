/** NDJSON, line by line: what JSON.parse gives back, keys in table order, escapes as JSON.stringify writes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ndjsonKey } from '../../src/records/ndjson-key.ts';
import { type Column, tableNames, tables } from '../../src/records/tables.ts';
import { ndjsonSchema } from '../../src/records/zod.ts';
import { CellError } from '../../src/sinks/cells.ts';
import { encodeNdjsonRow, encodeNdjsonRows, NdjsonFile } from '../../src/sinks/ndjson.ts';
import { NdjsonEncoder } from '../../src/sinks/ndjson-encoder.ts';
import { countRows } from '../../src/sinks/read-back.ts';
import { testFolder } from './files.ts';
import { nastyRows } from './nasty-rows.ts';

const folder = testFolder();

const history = (text: unknown, timestamp: number | null = null) => ({
  agent: 'codex',
  source_id: 's',
  ordinal: 0,
  text,
  timestamp,
});
const line = (text: unknown) => encodeNdjsonRow('history', history(text)).toString('utf8');

describe('text', () => {
  test('any string is escaped as JSON.stringify does, lone surrogates apart', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.nat(3), (text, copies) => {
        const whole = text.repeat(copies * 40 + 1);
        expect(line(whole)).toContain(`"text":${JSON.stringify(whole.toWellFormed())},"timestamp"`);
        expect(line(Buffer.from(whole, 'utf8'))).toBe(line(whole));
      }),
      { numRuns: 300 },
    );
  });

  test('a surrogate pair across any seam stays whole', () => {
    for (let before = 16_380; before < 16_390; before++) {
      const text = `${'a'.repeat(before)}😀${'b'.repeat(16_390)}😀`;
      expect(JSON.parse(line(text)).text).toBe(text);
    }
  });

  test('broken UTF-8 becomes U+FFFD, a byte order mark and NUL stay', () => {
    expect(JSON.parse(line(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x00]))).text).toBe('\ufeffa\ufffd\u0000');
  });
});

test('times are UTC with milliseconds, rounded down', () => {
  const time = (millis: number) => JSON.parse(encodeNdjsonRow('history', history('', millis)).toString()).timestamp;
  for (const millis of [
    0, 1, -1, 999, 86_399_999, 86_400_000, -86_400_000, 1_760_000_000_123, -62_135_596_800_000, 253_402_300_799_999,
    951_782_400_000,
  ]) {
    expect(time(millis)).toBe(new Date(millis).toISOString());
  }
  expect(time(1_760_000_000_123.999)).toBe('2025-10-09T08:53:20.123Z');
  expect(time(-0.5)).toBe('1969-12-31T23:59:59.999Z');
});

test.each(tableNames)('%s: every row has every key in table order, and the declared types', (table) => {
  const columns: readonly Column[] = tables[table].columns;
  const schema = ndjsonSchema(table);
  const lines = encodeNdjsonRows(table, nastyRows(table, 60)).toString('utf8').trimEnd().split('\n');
  expect(lines.length).toBe(60);
  for (const text of lines) {
    const row: unknown = JSON.parse(text);
    expect(Object.keys(row as object)).toEqual(['record', ...columns.map(ndjsonKey)]);
    expect(schema.safeParse(row).error).toBeUndefined();
  }
});

test('a stream takes rows of all tables into one file', async () => {
  const path = join(folder, 'stream.ndjson');
  const file = new NdjsonFile(path);
  for (const table of tableNames) for (const row of nastyRows(table, 30)) file.write(table, row);
  const written = file.close()!;
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.map((text) => JSON.parse(text).record)).toEqual(
    tableNames.flatMap((table) => Array(30).fill(tables[table].record)),
  );
  expect(written.bytes).toBe(readFileSync(path).length);
  expect(await countRows(path, 'ndjson')).toBe(tableNames.length * 30);
});

test('an encoder gives lines with memory of their own, and nothing of a refused row', () => {
  const encoder = new NdjsonEncoder();
  encoder.encode('history', history('one'));
  expect(() => encoder.encode('history', { ...history('two'), cwd: 5 })).toThrow(CellError);
  encoder.encode('history', history('three'));
  const lines = encoder.take();
  expect(lines.buffer.byteLength).toBe(lines.length);
  expect(encoder.length).toBe(0);
  expect(
    lines
      .toString()
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text).text),
  ).toEqual(['one', 'three']);
  expect(() => encodeNdjsonRows('history', [history('x'), history(5)])).toThrow(CellError);
  expect(encodeNdjsonRows('history', []).length).toBe(0);
});

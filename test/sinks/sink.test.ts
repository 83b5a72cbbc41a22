/** What every sink promises beside the values: refusals, no file without rows, nothing kept by reference. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CellError } from '../../src/sinks/cells.ts';
import { FileOutput } from '../../src/sinks/file-output.ts';
import { countRows, fileDigest } from '../../src/sinks/read-back.ts';
import { openSink, type ParquetEngine, type SinkFormat, type SinkRow } from '../../src/sinks/sink.ts';
import { testFolder, writeFile } from './files.ts';
import { nastyRows } from './nasty-rows.ts';

const folder = testFolder();
let files = 0;
const newPath = () => join(folder, `file-${files++}`);

const variants: readonly { name: string; format: SinkFormat; engine?: ParquetEngine }[] = [
  { name: 'ndjson', format: 'ndjson' },
  { name: 'parquet', format: 'parquet' },
  { name: 'parquet by parquetjs-lite', format: 'parquet', engine: 'parquetjs-lite' },
  { name: 'arrow', format: 'arrow' },
  { name: 'arrow stream', format: 'arrow-stream' },
];

const issue = (ordinal: unknown, message: unknown = 'bad'): SinkRow => ({
  agent: 'codex',
  source_id: 's',
  severity: 'error',
  code: 'bad_json',
  message,
  ordinal,
  byte_start: 0,
  byte_end: 10,
});

describe.each(variants)('$name', ({ format, engine }) => {
  const options = { format, ...(engine && { engine }) };

  test('no rows, no file', async () => {
    const path = newPath();
    expect(await writeFile({ ...options, table: 'issues', path }, [])).toBeNull();
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ['issues', issue(2 ** 53), 'issues.ordinal: a safe integer expected, got 9007199254740992'],
    ['issues', issue(1.5), 'issues.ordinal: a safe integer expected, got 1.5'],
    ['issues', issue('1'), 'issues.ordinal: a safe integer expected, got a string'],
    ['issues', issue(1n), 'issues.ordinal: a safe integer expected, got a bigint'],
    ['issues', issue(1, null), 'issues.message: null in a column that is never null'],
    ['issues', { ...issue(1), message: undefined }, 'issues.message: null in a column that is never null'],
    ['issues', issue(1, { secret: true }), 'issues.message: text expected, got an object'],
    ['issues', { ...issue(1), agent: 7 }, 'issues.agent: text expected, got 7'],
    [
      'usage',
      { ...nastyRows('usage', 1, { safeTimes: true })[0], reported_cost_usd: Number.NaN },
      'usage.reported_cost_usd: a finite number expected, got NaN',
    ],
    [
      'usage',
      { ...nastyRows('usage', 1, { safeTimes: true })[0], timestamp: 1e15 },
      'usage.timestamp: milliseconds since 1970 within the years 1 to 9999 expected, got 1000000000000000',
    ],
    [
      'usage',
      { ...nastyRows('usage', 1, { safeTimes: true })[0], timestamp: new Date(0) },
      'usage.timestamp: milliseconds since 1970 within the years 1 to 9999 expected, got an object',
    ],
    [
      'usage',
      { ...nastyRows('usage', 1, { safeTimes: true })[0], adjustments: ['a', 1] },
      'usage.adjustments: a list of strings expected, got a list',
    ],
    [
      'messages',
      { ...nastyRows('messages', 1, { safeTimes: true })[0], is_meta: 1 },
      'messages.is_meta: a boolean expected, got 1',
    ],
    ['raw', { ...nastyRows('raw', 1)[0], record: 'text' }, 'raw.record: bytes expected, got a string'],
  ] as const)('%s: a value that does not fit is refused (%#)', async (table, row, message) => {
    const sink = await openSink({ ...options, table, path: newPath() });
    expect(() => sink.write(row)).toThrow(
      new CellError(
        table,
        message.slice(message.indexOf('.') + 1, message.indexOf(':')),
        message.slice(message.indexOf(': ') + 2),
      ),
    );
    expect(await sink.close()).toBeNull();
  });

  test('a refused row leaves no trace: the file is the same without it', async () => {
    const rows = nastyRows('messages', 50, { safeTimes: true });
    const clean = await writeFile({ ...options, table: 'messages', path: newPath() }, rows);
    const path = newPath();
    const sink = await openSink({ ...options, table: 'messages', path });
    for (const row of rows) {
      // The last column is refused, when all others have been taken
      expect(() => sink.write({ ...row, text: 'refused', is_active: true, content_kinds: 'text' })).toThrow(CellError);
      sink.write(row);
    }
    const file = await sink.close();
    expect(file).toEqual({ ...clean, path });
    expect(await countRows(path, format)).toBe(50);
  });

  test('nothing of a row is kept by reference', async () => {
    const wanted = newPath();
    await writeFile(
      { ...options, table: 'tool_results', path: wanted },
      nastyRows('tool_results', 40, { safeTimes: true }).map((row) => ({ ...row, output: Buffer.from('first text') })),
    );
    const path = newPath();
    const sink = await openSink({ ...options, table: 'tool_results', path });
    const shared = Buffer.alloc(10);
    for (const row of nastyRows('tool_results', 40, { safeTimes: true })) {
      shared.write('first text');
      sink.write({ ...row, output: shared });
      shared.write('next frame');
    }
    await sink.close();
    expect(readFileSync(path).equals(readFileSync(wanted))).toBe(true);
  });

  test('reports rows and range of event times', async () => {
    const row = nastyRows('history', 1, { safeTimes: true })[0]!;
    const times = [1_700_000_000_500.25, null, 1_600_000_000_000, 1_650_000_000_000];
    const file = await writeFile(
      { ...options, table: 'history', path: newPath() },
      times.map((timestamp) => ({ ...row, timestamp })),
    );
    expect(file).toMatchObject({ rows: 4, minTimestamp: 1_600_000_000_000, maxTimestamp: 1_700_000_000_500.25 });

    const session = nastyRows('sessions', 1, { safeTimes: true })[0]!;
    const range = await writeFile({ ...options, table: 'sessions', path: newPath() }, [
      { ...session, started_at: 5, ended_at: 9 },
      { ...session, started_at: 7, ended_at: null },
    ]);
    expect(range).toMatchObject({ rows: 2, minTimestamp: 5, maxTimestamp: 9 });

    const none = await writeFile({ ...options, table: 'issues', path: newPath() }, [issue(1)]);
    expect(none).toMatchObject({ rows: 1, minTimestamp: null, maxTimestamp: null });
  });

  test('an existing file is never written over', async () => {
    const path = newPath();
    writeFileSync(path, 'mine');
    const sink = await openSink({ ...options, table: 'issues', path });
    sink.write(issue(1));
    await expect((async () => sink.close())()).rejects.toThrow('EEXIST');
    sink.abort();
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  test('abort leaves no file', async () => {
    const path = newPath();
    const sink = await openSink({ ...options, table: 'messages', path, rowGroupBytes: 10_000 });
    for (const row of nastyRows('messages', 2000, { safeTimes: true })) sink.write(row);
    sink.abort();
    expect(existsSync(path)).toBe(false);
  });

  test('what is held in memory stays below a row group', async () => {
    const sink = await openSink({ ...options, table: 'tool_results', path: newPath(), rowGroupBytes: 500_000 });
    let most = 0;
    for (const row of nastyRows('tool_results', 3000, { safeTimes: true })) {
      sink.write({ ...row, output: 'x'.repeat(1000), output_json: null });
      most = Math.max(most, sink.bytesBuffered);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(1024 * 1024 + 10_000);
    expect((await sink.close())!.rows).toBe(3000);
  });
});

test('the file under a sink hashes and counts small and large writes alike', () => {
  const path = newPath();
  const output = new FileOutput(path);
  const pieces = [10, 65_535, 65_536, 1, 200_000, 0, 30].map((size, i) => Buffer.alloc(size, i + 65));
  for (const piece of pieces) output.write(piece);
  expect(output.close()).toEqual({ path, ...fileDigest(path) });
  expect(readFileSync(path).equals(Buffer.concat(pieces))).toBe(true);
  expect(() => output.write(Buffer.from('late'))).toThrow('write after close');
});

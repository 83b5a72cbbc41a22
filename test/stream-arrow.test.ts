/** `stream --format arrow`: one table, one Arrow stream, the rows of the NDJSON stream. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { RecordBatchReader } from 'apache-arrow';
import { expect, it } from 'vitest';
import { stream } from '../src/index.ts';
import { type TableName, tables } from '../src/records/tables.ts';
import { readArrow } from './sinks/read-arrow.ts';
import { cli, parseRows, run, temporaryFolder } from './support/command.ts';
import { World } from './support/histories.ts';

function home(sessions: number, turns: number): string {
  const world = new World(join(temporaryFolder(), 'home'));
  for (let i = 0; i < sessions; i++) {
    const agent = i % 2 === 0 ? 'claude' : 'codex';
    world.apply({ kind: 'create', agent, at: 0, by: i });
    for (let t = 0; t < turns; t++) world.apply({ kind: 'append', agent, at: i >> 1, by: t });
  }
  return world.home;
}

/** Runs `stream` with bytes on standard output. */
async function arrow(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ status: unknown; bytes: Buffer }> {
  const child = spawn(process.execPath, [cli, 'stream', '--format', 'arrow', ...args], {
    env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC', SESSIONLAKE_HOST: 'test-host', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((done) => child.on('close', done));
  const bytes = await buffer(child.stdout);
  return { status: await ended, bytes };
}

const rowsOf = (bytes: Buffer): Record<string, unknown>[] => {
  const file = join(temporaryFolder(), 'stream.arrows');
  writeFileSync(file, bytes);
  return readArrow(file);
};

/** An NDJSON row as the cells of an Arrow row. */
function asCells(table: TableName, row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    tables[table].columns.map(({ name, type }) => {
      const value = row[name];
      if (value === null) return [name, null];
      if (type === 'timestamp') return [name, BigInt(Date.parse(String(value))) * 1000n];
      return [name, type === 'int' ? BigInt(Number(value)) : value];
    }),
  );
}

/** NDJSON has times to the millisecond, Arrow to the microsecond. */
const toMilliseconds = (row: Record<string, unknown>): Record<string, unknown> =>
  typeof row['mtime'] === 'bigint' ? { ...row, mtime: (row['mtime'] / 1000n) * 1000n } : row;

it.each(['messages', 'usage', 'sessions', 'tool_calls', 'sources'] as const)(
  'holds the rows of %s that NDJSON has, in the same order, with any number of threads',
  async (table) => {
    const env = { HOME: home(6, 40), SOURCE_DATE_EPOCH: '1767600000' };
    const ndjson = parseRows((await run(['stream', '--tables', table], env)).stdout);
    expect(ndjson.length).toBeGreaterThan(5);
    const one = await arrow(['--tables', table, '--threads', '1'], env);
    expect(one.status).toBe(0);
    expect(rowsOf(one.bytes).map(toMilliseconds)).toEqual(ndjson.map((row) => asCells(table, row)));
    expect((await arrow(['--tables', table, '--threads', '2'], env)).bytes).toEqual(one.bytes);
  },
);

it('is one stream that is read batch by batch to its end mark', async () => {
  const { bytes } = await arrow(['--tables', 'messages', '--threads', '2'], { HOME: home(40, 60) });
  expect(bytes.subarray(-8).toString('hex')).toBe('ffffffff00000000');
  const reader = RecordBatchReader.from(bytes).open();
  expect(reader.schema.fields.map((field) => field.name)).toEqual(tables.messages.columns.map(({ name }) => name));
  expect(reader.schema.metadata.get('sessionlake.table')).toBe('messages');
  let rows = 0;
  for (const batch of reader) rows += batch.numRows;
  expect(rows).toBeGreaterThan(40);
});

it('is a whole stream without rows where there are none, and tells with a cursor only what is new', async () => {
  const empty = await arrow(['--tables', 'messages'], { HOME: temporaryFolder() });
  expect(empty.status).toBe(0);
  expect(rowsOf(empty.bytes)).toEqual([]);
  const env = { HOME: home(2, 3) };
  const args = ['--tables', 'messages', '--cursor', join(temporaryFolder(), 'c.db')];
  expect(rowsOf((await arrow(args, env)).bytes).length).toBeGreaterThan(2);
  const again = await arrow(args, env);
  expect(again.bytes).toEqual(empty.bytes);
});

it.each([
  [[], /--format arrow writes one table: name it/],
  [['--tables', 'messages,usage'], /--format arrow writes one table: name it/],
])('with %j ends with status 1 and says what is missing', async (args, message) => {
  const { status, stdout, stderr } = await run(['stream', '--format', 'arrow', ...args], { HOME: home(1, 1) });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(message);
});

it('refuses Parquet on a pipe', async () => {
  const { status, stderr } = await run(['stream', '--format', 'parquet']);
  expect(status).toBe(1);
  expect(stderr).toMatch(/a stream is ndjson or arrow; Parquet files are written by export and sync/);
});

it('ends quietly when its reader goes away', async () => {
  const command = `"${process.execPath}" "${cli}" stream --format arrow --tables messages | head -c 100`;
  const child = spawn('sh', ['-c', command], { env: { PATH: process.env['PATH'] ?? '', HOME: home(8, 400) } });
  const [status, out, err] = await Promise.all([
    new Promise((done) => child.on('close', done)),
    buffer(child.stdout),
    buffer(child.stderr),
  ]);
  expect([status, out.length, err.toString()]).toEqual([0, 100, '']);
});

it('is there for the library too', async () => {
  const target = new PassThrough();
  const bytes = buffer(target);
  const root = { claude: join(home(2, 3), '.claude') };
  const report = await stream(target, { agent: 'claude', root, format: 'arrow', tables: ['messages'] });
  target.end();
  expect(report.exit_status).toBe(0);
  expect(rowsOf(await bytes)).toHaveLength(report.rows.messages ?? 0);
  await expect(stream(new PassThrough(), { format: 'arrow' })).rejects.toThrow(/writes one table/);
});

/** Lakes read by DuckDB: snapshots, incremental lakes through their views, pipeline definitions, and verify. */

import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { tables } from '../src/records/tables.ts';
import { connect, query } from './sinks/duckdb.ts';
import { projectFolder, run, temporaryFolder } from './support/command.ts';
import { type Step, World } from './support/histories.ts';

const step = (kind: Exclude<Step['kind'], 'sync'>, agent: 'claude' | 'codex', at = 0, by = 0): Step =>
  ({ kind, agent, at, by }) as Step;

/** A store in three states, each later than the one before: growth, a revised reply, a branch, a fork, a lost message. */
const states: readonly (readonly Step[])[] = [
  [step('create', 'claude'), step('append', 'claude', 0, 1), step('create', 'codex'), step('append', 'codex', 0, 1)],
  [
    step('repeat', 'claude'),
    step('branch', 'claude', 0, 1),
    step('fork', 'claude', 0, 3),
    step('append', 'codex', 0, 3),
    step('title', 'codex', 0, 9),
  ],
  [step('append', 'claude', 1, 2), step('fork', 'codex', 0, 4), step('drop', 'claude', 1, 1)],
];

const files = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const digests = (folder: string): Record<string, string> =>
  Object.fromEntries(
    files(folder).map((file) => [
      file.slice(folder.length),
      createHash('sha256').update(readFileSync(file)).digest('hex'),
    ]),
  );

async function views(lake: string) {
  const { stdout, status, stderr } = await run(['schema', '--as', 'duckdb-views', '--out', lake]);
  expect(status, stderr).toBe(0);
  const connection = await connect();
  await connection.run(stdout);
  return connection;
}

const SUMS = `SELECT agent, sum(counted_input_tokens)::BIGINT AS input_tokens, sum(counted_output_tokens)::BIGINT AS output_tokens,
  sum(counted_cache_read_tokens)::BIGINT AS cache_read_tokens FROM usage GROUP BY agent ORDER BY agent`;

describe('an incremental lake', () => {
  it.each(['parquet', 'ndjson'] as const)(
    'in %s shows through its views what a snapshot holds, and its plain sums are those of usage',
    async (format) => {
      const home = join(temporaryFolder(), 'home');
      const world = new World(home);
      const lake = join(temporaryFolder(), 'lake');
      for (const steps of states) {
        for (const change of steps) world.apply(change);
        const { status, stderr } = await run(['sync', '--out', lake, '--format', format], { HOME: home });
        expect(status, stderr).toBe(0);
      }
      const snapshot = join(temporaryFolder(), 'snapshot');
      await run(['export', '--out', snapshot, '--format', format], { HOME: home });
      const [synced, exported] = [await views(lake), await views(snapshot)];
      const MESSAGES =
        'SELECT event_id, text, thinking, model, is_active, is_copy, byte_start, "timestamp" FROM messages ORDER BY event_id';
      const [all, held] = [await query(synced, MESSAGES), await query(exported, MESSAGES)];
      const heldIds = new Set(held.map((row) => row['event_id']));
      expect(all.filter((row) => heldIds.has(row['event_id']!))).toEqual(held);
      const lost = all.filter((row) => !heldIds.has(row['event_id']!));
      expect(lost.length).toBeGreaterThan(0);
      for (const row of lost) expect(row).toMatchObject({ is_active: false, text: expect.any(String) });
      const SESSIONS = 'SELECT session_id, title, cwd, tool_call_count, started_at FROM sessions ORDER BY session_id';
      expect(await query(synced, SESSIONS)).toEqual(await query(exported, SESSIONS));
      expect(await query(synced, SUMS)).toEqual(await query(exported, SUMS));
      const usage = JSON.parse((await run(['usage', '--json'], { HOME: home })).stdout) as {
        totals: Record<string, number | string>[];
      };
      for (const row of await query(exported, SUMS)) {
        for (const column of ['input_tokens', 'output_tokens', 'cache_read_tokens'] as const) {
          const sum = usage.totals
            .filter((t) => t['agent'] === row['agent'])
            .reduce((n, t) => n + Number(t[column] ?? 0), 0);
          expect(Number(row[column]), column).toBe(sum);
        }
      }
      expect(await run(['verify', lake])).toMatchObject({ status: 0 });
      expect(await run(['verify', snapshot])).toMatchObject({ status: 0 });
    },
  );
});

describe('views that are written before the first row', () => {
  it.each([
    ['parquet', 'none', 'hyparquet-writer'],
    ['parquet', 'none', 'parquetjs-lite'],
    ['parquet', 'agent', 'hyparquet-writer'],
    ['parquet', 'day', 'hyparquet-writer'],
    ['ndjson', 'none', 'hyparquet-writer'],
    ['ndjson', 'agent', 'hyparquet-writer'],
    ['ndjson', 'day', 'hyparquet-writer'],
  ] as const)('show what comes later: %s, partitioned by %s, by %s', async (format, partition, engine) => {
    const home = join(temporaryFolder(), 'home');
    const lake = join(temporaryFolder(), 'lake');
    const args = ['sync', '--out', lake, '--format', format, '--partition', partition, '--parquet-engine', engine];
    expect(await run(args, { HOME: home })).toMatchObject({ status: 0 });
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
    const connection = await views(lake);
    const COUNTS = `SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM messages) AS messages,
      (SELECT count(*) FROM tool_calls) AS calls, (SELECT count(*) FROM tool_results) AS results,
      (SELECT count(*) FROM usage) AS usage, (SELECT count(*) FROM issues) AS issues`;
    const none = { sessions: 0n, messages: 0n, calls: 0n, results: 0n, usage: 0n, issues: 0n };
    expect(await query(connection, COUNTS)).toEqual([none]);
    const world = new World(home);
    for (const change of states.flat()) world.apply(change);
    expect(await run(args, { HOME: home })).toMatchObject({ status: 0 });
    const exported = join(temporaryFolder(), 'exported');
    await run(['export', '--out', exported, '--format', 'ndjson'], { HOME: home });
    const [counts] = await query(connection, COUNTS);
    expect([counts]).toEqual(await query(await views(exported), COUNTS));
    expect(Number(counts!['messages'])).toBeGreaterThan(5);
    expect(await query(connection, 'SELECT DISTINCT agent FROM messages ORDER BY agent')).toEqual([
      { agent: 'claude' },
      { agent: 'codex' },
    ]);
    expect(await run(['verify', lake])).toMatchObject({ status: 0 });
  });

  it('find the columns of tables without rows in Arrow lakes too', async () => {
    const home = join(temporaryFolder(), 'home');
    for (const command of ['sync', 'export']) {
      const lake = join(temporaryFolder(), 'lake');
      expect(await run([command, '--out', lake, '--format', 'arrow'], { HOME: home })).toMatchObject({ status: 0 });
      expect(await run(['verify', lake])).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^7 files, 0 rows/),
      });
      const [file] = files(join(lake, 'usage'));
      const table = tableFromIPC(readFileSync(file!));
      expect([table.numRows, table.schema.fields.map(({ name }) => name)]).toEqual([
        0,
        tables.usage.columns.map(({ name }) => name),
      ]);
    }
  });

  it('hold the tables that were asked for, and no others', async () => {
    const home = join(temporaryFolder(), 'home');
    const world = new World(home);
    for (const change of states.flat()) world.apply(change);
    for (const command of ['sync', 'export']) {
      const lake = join(temporaryFolder(), 'lake');
      await run([command, '--out', lake, '--tables', 'messages,tool_calls'], { HOME: home });
      expect(readdirSync(lake).sort()).toEqual(['_sessionlake', 'messages', 'tool_calls']);
      expect(await query(await views(lake), 'SELECT count(*) AS n FROM usage')).toEqual([{ n: 0n }]);
    }
  });

  it('are refused for a folder that is no lake, by name', async () => {
    const folder = join(temporaryFolder(), 'laek');
    const { status, stdout, stderr } = await run(['schema', '--as', 'duckdb-views', '--out', folder]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${folder} is no lake`);
  });
});

describe('export', () => {
  it.each(['parquet', 'arrow', 'ndjson'] as const)(
    'gives the same %s files with one thread and with four',
    async (format) => {
      const home = join(temporaryFolder(), 'home');
      const world = new World(home);
      // More sources than fit one shard, so that there is something to share between threads.
      for (let i = 0; i < 1100; i++) world.apply(step('create', i % 11 === 0 ? 'codex' : 'claude', 0, i));
      for (let i = 0; i < 600; i++) world.apply(step('append', i % 2 === 0 ? 'claude' : 'codex', i * 7, i));
      for (let i = 0; i < 20; i++) world.apply(step('fork', 'claude', i * 31, 2));
      const [one, four] = await Promise.all(
        ['1', '4'].map(async (threads) => {
          const out = join(temporaryFolder(), 'lake');
          const { status, stderr } = await run(['export', '--out', out, '--format', format, '--threads', threads], {
            HOME: home,
            SOURCE_DATE_EPOCH: '1767600000',
          });
          expect(status, stderr).toBe(0);
          return digests(out);
        }),
      );
      expect(Object.keys(one!).filter((name) => name.startsWith('/messages/')).length).toBeGreaterThan(1);
      expect(four).toEqual(one);
    },
  );

  it('with parquetjs-lite holds the same rows as with hyparquet-writer', async () => {
    const home = join(temporaryFolder(), 'home');
    const world = new World(home);
    for (const change of states.flat()) world.apply(change);
    const rowsOf = async (engine: string): Promise<unknown> => {
      const out = join(temporaryFolder(), 'lake');
      const result = await run(['export', '--out', out, '--parquet-engine', engine], { HOME: home });
      expect(result.status, result.stderr).toBe(0);
      expect(await run(['verify', out])).toMatchObject({ status: 0 });
      const connection = await connect();
      return Promise.all(
        ['messages', 'tool_calls', 'usage', 'sessions'].map((t) =>
          query(
            connection,
            `SELECT * EXCLUDE (${t === 'sessions' ? 'models' : t === 'messages' ? 'content_kinds' : t === 'usage' ? 'adjustments' : 'is_copy'}) FROM '${out}/${t}/*.parquet' ORDER BY ALL`,
          ),
        ),
      );
    };
    expect(await rowsOf('parquetjs-lite')).toEqual(await rowsOf('hyparquet-writer'));
  });

  it('partitions by agent without repeating the column in the files', async () => {
    const home = join(temporaryFolder(), 'home');
    const world = new World(home);
    for (const change of states.flat()) world.apply(change);
    const out = join(temporaryFolder(), 'lake');
    await run(['export', '--out', out, '--partition', 'agent'], { HOME: home });
    expect(readdirSync(join(out, 'messages'))).toEqual(['agent=claude', 'agent=codex']);
    const connection = await connect();
    const columns = await query(
      connection,
      `SELECT name FROM parquet_schema('${out}/messages/agent=claude/*.parquet')`,
    );
    expect(columns.map((c) => c['name'])).not.toContain('agent');
    const viewed = await query(
      await views(out),
      'SELECT agent, count(*) AS n FROM messages GROUP BY agent ORDER BY agent',
    );
    expect(viewed.map((row) => row['agent'])).toEqual(['claude', 'codex']);
  });
});

describe('verify', () => {
  it('finds files that are missing, cut, changed or foreign', async () => {
    const home = join(temporaryFolder(), 'home');
    const world = new World(home);
    for (const change of states[0]!) world.apply(change);
    const out = join(temporaryFolder(), 'lake');
    await run(['export', '--out', out, '--format', 'ndjson'], { HOME: home });
    const of = (table: string): string => files(join(out, table))[0]!;
    rmSync(of('sessions'));
    appendFileSync(of('usage'), '{}\n');
    const changed = readFileSync(of('messages'), 'utf8');
    writeFileSync(of('messages'), changed.replace('message', 'massage'));
    writeFileSync(join(out, 'messages', 'more.ndjson'), '{}\n');
    const { status, stdout } = await run(['verify', out]);
    expect(status).toBe(2);
    expect(stdout).toMatch(/sessions\/\S+ is missing/);
    expect(stdout).toMatch(/usage\/\S+ has \d+ bytes, not \d+/);
    expect(stdout).toMatch(/messages\/\S+ has other contents/);
    expect(stdout).toMatch(/messages\/more.ndjson was not committed/);
    expect(await run(['verify', temporaryFolder()])).toMatchObject({ status: 1 });
  });
});

describe('the bundled pipeline definitions', () => {
  const storeHome = (): string => {
    const home = join(temporaryFolder(), 'home');
    const world = new World(home);
    for (const change of states[0]!) world.apply(change);
    return home;
  };
  const pipeline = (name: string): string => join(projectFolder, 'pipelines', `${name}.json`);

  it('batch-parquet writes a snapshot that replaces the one before', async () => {
    const home = storeHome();
    const out = join(temporaryFolder(), 'out');
    for (let i = 0; i < 2; i++)
      expect(await run(['run', pipeline('batch-parquet')], { HOME: home, SESSIONLAKE_OUT: out })).toMatchObject({
        status: 0,
      });
    const rows = await query(await connect(), `SELECT count(*) AS n FROM '${out}/sessions/*.parquet'`);
    expect(Number(rows[0]!['n'])).toBe(2);
  });

  it('cron-ndjson appends what is new, partitioned by day, and says nothing', async () => {
    const home = storeHome();
    const out = join(temporaryFolder(), 'out');
    for (let i = 0; i < 2; i++) {
      const { status, stdout, stderr } = await run(['run', pipeline('cron-ndjson')], {
        HOME: home,
        SESSIONLAKE_OUT: out,
      });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    }
    expect(readdirSync(join(out, 'messages'))).toEqual(['day=2026-01-05']);
    expect(files(join(out, 'messages'))).toHaveLength(1);
  });

  it('duckdb writes views that answer from the first day on', async () => {
    const home = storeHome();
    const out = join(temporaryFolder(), 'out');
    expect(await run(['run', pipeline('duckdb')], { HOME: home, SESSIONLAKE_OUT: out })).toMatchObject({ status: 0 });
    const connection = await connect();
    await connection.run(readFileSync(join(out, 'views.sql'), 'utf8'));
    const [row] = await query(
      connection,
      'SELECT (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM issues) AS issues',
    );
    expect(Number(row!['messages'])).toBeGreaterThan(3);
    expect(Number(row!['issues'])).toBe(0);
  });
});

/** The views over a lake: the newest revision of everything, withdrawn messages, postings that sum up. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTables, duckdbTypes } from '../../src/records/ddl.ts';
import { type TableName, tableNames, tables } from '../../src/records/tables.ts';
import { duckdbViews, type LakeFormat } from '../../src/records/views.ts';
import { type Partition, partitionColumns, partitionFolder } from '../../src/sinks/partition.ts';
import { fileExtension, openSink, type SinkRow, type TableSink } from '../../src/sinks/sink.ts';
import { connect, query, typesOf } from '../sinks/duckdb.ts';
import { nastyRows } from '../sinks/nasty-rows.ts';

const base = mkdtempSync(join(tmpdir(), "sessionlake [a] it's "));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let lakes = 0;

type LakeRows = Partial<Record<TableName, readonly SinkRow[]>>;

/** A lake of so many batches: each row goes into the batch of its turn. */
async function writeLake(
  format: 'parquet' | 'ndjson',
  partition: Partition,
  rows: LakeRows,
  batches = 2,
): Promise<string> {
  const lakeDir = join(base, `lake${lakes++}`);
  const sinks = new Map<string, TableSink>();
  for (const [table, all] of Object.entries(rows) as [TableName, readonly SinkRow[]][]) {
    for (const [i, row] of all.entries()) {
      const folder = join(lakeDir, table, partitionFolder(partition, table, row));
      const path = join(folder, `part-${i % batches}.${fileExtension[format]}`);
      let sink = sinks.get(path);
      if (sink === undefined) {
        mkdirSync(folder, { recursive: true });
        sink = await openSink({ format, table, path, omit: partitionColumns(partition, table) });
        sinks.set(path, sink);
      }
      sink.write(row);
    }
  }
  for (const sink of sinks.values()) await sink.close();
  return lakeDir;
}

const template = (table: TableName) => nastyRows(table, 8).find((row) => row['agent'] === 'codex')!;
const event = (table: TableName, cells: Record<string, unknown>): SinkRow => ({
  ...template(table),
  agent: 'codex',
  session_id: 's1',
  source_id: 'src1',
  generation: 0,
  revision: 0,
  timestamp: 1_760_000_000_000,
  is_copy: false,
  ...cells,
});
const message = (
  event_id: string,
  generation: number,
  revision: number,
  text: string | null,
  cells: Record<string, unknown> = {},
) => event('messages', { event_id, generation, revision, text, kind: 'assistant', is_active: true, ...cells });
const withdrawn = (event_id: string, generation: number, revision: number) =>
  message(event_id, generation, revision, null, { kind: 'withdrawn', is_active: false });
const posting = (event_id: string, revision: number, basis: string, cells: Record<string, unknown>) =>
  event('usage', {
    event_id,
    revision,
    basis,
    usage_key: 'k',
    state: 'final',
    ...Object.fromEntries(
      tables.usage.columns.filter(({ name }) => name.startsWith('counted_')).map(({ name }) => [name, null]),
    ),
    ...cells,
  });

const rows: LakeRows = {
  messages: [
    message('revised', 0, 0, 'first'),
    message('revised', 0, 2, 'third'),
    message('revised', 0, 1, 'second'),
    message('read again', 0, 5, 'old decoder'),
    message('read again', 1, 0, 'new decoder'),
    message('gone', 0, 0, 'was said'),
    message('gone', 0, 1, 'was said better'),
    withdrawn('gone', 0, 2),
    message('back', 0, 0, 'x'),
    withdrawn('back', 0, 1),
    message('back', 0, 2, 'y'),
    message('inactive', 0, 0, 'side branch', { is_active: false }),
    message('two sources', 0, 0, 'same', { source_id: 'src2' }),
    message('two sources', 0, 0, 'same', { source_id: 'src1' }),
    message('no kind', 0, 0, 'plain', { kind: null, agent: 'claude' }),
    withdrawn('never seen', 0, 0),
  ],
  tool_calls: [
    event('tool_calls', { event_id: 'c', revision: 0, name: 'a' }),
    event('tool_calls', { event_id: 'c', revision: 1, name: 'b' }),
  ],
  usage: [
    posting('partial', 0, 'native', {
      input_tokens: 10,
      output_tokens: 1,
      counted_input_tokens: 10,
      counted_output_tokens: 1,
    }),
    posting('partial', 1, 'native', {
      input_tokens: 10,
      output_tokens: 7,
      counted_input_tokens: 0,
      counted_output_tokens: 6,
    }),
    posting('taken back', 0, 'last_sample', {
      input_tokens: 5,
      output_tokens: 5,
      counted_input_tokens: 5,
      counted_output_tokens: 5,
    }),
    posting('taken back', 1, 'reversal', {
      input_tokens: null,
      output_tokens: null,
      counted_input_tokens: -5,
      counted_output_tokens: -5,
    }),
    posting('unknown', 0, 'native', { input_tokens: 3, output_tokens: null, counted_input_tokens: 3 }),
  ],
  sessions: [
    {
      ...template('sessions'),
      agent: 'codex',
      session_id: 's1',
      source_id: 'src1',
      title: 'old',
      generation: 0,
      revision: 0,
      message_count: 2,
      user_message_count: 1,
      tool_call_count: 0,
    },
    {
      ...template('sessions'),
      agent: 'codex',
      session_id: 's1',
      source_id: 'src1',
      title: 'new',
      generation: 0,
      revision: 1,
      message_count: 3,
      user_message_count: 1,
      tool_call_count: 0,
    },
    {
      ...template('sessions'),
      agent: 'claude',
      session_id: 's1',
      source_id: 'src9',
      title: 'other',
      generation: 0,
      revision: 0,
      message_count: 1,
      user_message_count: 1,
      tool_call_count: 0,
    },
  ],
  sources: [
    { ...template('sources'), source_id: 'src1', batch_id: '000001', status: 'failed', generation: 0 },
    { ...template('sources'), source_id: 'src1', batch_id: '000002', status: 'complete', generation: 0 },
    // Clocks go back, batches do not: the seventh digit of their ids comes after many years of syncs.
    ...(
      [
        ['src2', 0, '999999', 9000, 'failed'],
        ['src2', 0, '1000000', 10, 'complete'],
        ['src2', 0, '000007', 99000, 'failed'],
        ['src3', 0, '000009', 9000, 'failed'],
        ['src3', 1, '000008', 10, 'complete'],
        ['src4', 0, '000002', 10, 'failed'],
        ['src4', 0, '000002', 20, 'complete'],
      ] as const
    ).map(([source_id, generation, batch_id, ingested_at, status]) => ({
      ...template('sources'),
      source_id,
      generation,
      batch_id,
      ingested_at,
      status,
    })),
  ],
};

const cases: { format: 'parquet' | 'ndjson'; partition: Partition }[] = (['parquet', 'ndjson'] as const).flatMap(
  (format) => (['none', 'agent', 'day'] as const).map((partition) => ({ format, partition })),
);

describe.each(cases)('a lake of $format, partitioned by $partition', ({ format, partition }) => {
  let connection: DuckDBConnection;
  beforeAll(async () => {
    connection = await connect();
    // A session far from UTC: times must not move
    await connection.run("SET TimeZone = 'Asia/Kolkata'");
    const lakeDir = await writeLake(format, partition, rows);
    await connection.run(duckdbViews({ lakeDir, format, withFiles: Object.keys(rows) as TableName[] }));
  });

  test('messages show their newest revision; withdrawn ones are inactive, with their last words', async () => {
    expect(
      await query(connection, 'SELECT event_id, text, is_active, kind, source_id FROM messages ORDER BY event_id'),
    ).toEqual([
      { event_id: 'back', text: 'y', is_active: true, kind: 'assistant', source_id: 'src1' },
      { event_id: 'gone', text: 'was said better', is_active: false, kind: 'assistant', source_id: 'src1' },
      { event_id: 'inactive', text: 'side branch', is_active: false, kind: 'assistant', source_id: 'src1' },
      { event_id: 'no kind', text: 'plain', is_active: true, kind: null, source_id: 'src1' },
      { event_id: 'read again', text: 'new decoder', is_active: true, kind: 'assistant', source_id: 'src1' },
      { event_id: 'revised', text: 'third', is_active: true, kind: 'assistant', source_id: 'src1' },
      { event_id: 'two sources', text: 'same', is_active: true, kind: 'assistant', source_id: 'src1' },
    ]);
    expect(await query(connection, "SELECT agent, timestamp FROM messages WHERE event_id = 'no kind'")).toEqual([
      { agent: 'claude', timestamp: 1_760_000_000_000_000n },
    ]);
  });

  test('usage is a ledger: all postings, plain sums are right', async () => {
    expect(
      await query(
        connection,
        'SELECT count(*) AS n, sum(counted_input_tokens)::BIGINT AS i, sum(counted_output_tokens)::BIGINT AS o FROM usage',
      ),
    ).toEqual([{ n: 5n, i: 13n, o: 7n }]);
  });

  test('usage_current has one row an event: newest counters, all that was counted', async () => {
    const columns =
      'event_id, basis, input_tokens, output_tokens, counted_input_tokens, counted_output_tokens, counted_reasoning_tokens';
    expect(await query(connection, `SELECT ${columns} FROM usage_current ORDER BY event_id`)).toEqual([
      {
        event_id: 'partial',
        basis: 'native',
        input_tokens: 10n,
        output_tokens: 7n,
        counted_input_tokens: 10n,
        counted_output_tokens: 7n,
        counted_reasoning_tokens: null,
      },
      {
        event_id: 'taken back',
        basis: 'last_sample',
        input_tokens: 5n,
        output_tokens: 5n,
        counted_input_tokens: 0n,
        counted_output_tokens: 0n,
        counted_reasoning_tokens: null,
      },
      {
        event_id: 'unknown',
        basis: 'native',
        input_tokens: 3n,
        output_tokens: null,
        counted_input_tokens: 3n,
        counted_output_tokens: null,
        counted_reasoning_tokens: null,
      },
    ]);
  });

  test('sessions, sources and tool calls show their newest row', async () => {
    expect(await query(connection, 'SELECT agent, title, message_count FROM sessions ORDER BY agent')).toEqual([
      { agent: 'claude', title: 'other', message_count: 1n },
      { agent: 'codex', title: 'new', message_count: 3n },
    ]);
    expect(await query(connection, 'SELECT source_id, status FROM sources ORDER BY source_id')).toEqual(
      ['src1', 'src2', 'src3', 'src4'].map((source_id) => ({ source_id, status: 'complete' })),
    );
    expect(await query(connection, 'SELECT name FROM tool_calls')).toEqual([{ name: 'b' }]);
  });

  test('every view has the declared columns and types, also without files', async () => {
    for (const table of tableNames) {
      const declared = Object.fromEntries(tables[table].columns.map(({ name, type }) => [name, duckdbTypes[type]]));
      expect(await typesOf(connection, `SELECT * FROM "${table}"`)).toEqual(declared);
    }
    expect(await query(connection, 'SELECT count(*) AS n FROM issues')).toEqual([{ n: 0n }]);
  });

  test('the rows load into tables made by the DDL', async () => {
    await connection.run(`CREATE SCHEMA loaded; USE loaded; ${createTables('duckdb')} USE memory.main;`);
    for (const table of tableNames) {
      await connection.run(`INSERT INTO loaded."${table}" SELECT * FROM main."${table}"`);
    }
    expect(await query(connection, 'SELECT count(*) AS n FROM loaded.messages')).toEqual([{ n: 7n }]);
  });
});

test('a very long line of NDJSON is read', async () => {
  const long = 'x'.repeat(20 * 1024 * 1024);
  const lakeDir = await writeLake('ndjson', 'none', {
    messages: [message('long', 0, 0, long), message('short', 0, 0, 'y')],
  });
  const connection = await connect();
  await connection.run(duckdbViews({ lakeDir, format: 'ndjson' }, ['messages']));
  expect(await query(connection, 'SELECT event_id, length(text) AS n FROM messages ORDER BY event_id')).toEqual([
    { event_id: 'long', n: 20n * 1024n * 1024n },
    { event_id: 'short', n: 1n },
  ]);
});

test.each(['arrow', 'arrow-stream'] as LakeFormat[])('views over %s say what DuckDB needs for it', (format) => {
  const sql = duckdbViews({ lakeDir: '/lake', format }, ['messages']);
  expect(sql).toContain('only with the community extension nanoarrow');
  expect(sql).toContain(`read_arrow('/lake/messages/**/*.${format === 'arrow' ? 'arrow' : 'arrows'}'`);
});

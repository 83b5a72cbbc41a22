/** Parquet as its footer tells it: encodings, statistics that may be trusted, no traps of long keys. */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import { connect, query } from './duckdb.ts';
import { testFolder, writeFile } from './files.ts';
import { nastyRows } from './nasty-rows.ts';

const folder = testFolder();
let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await connect();
});

test('dictionaries for keys, none for ids and texts; statistics where they prune', async () => {
  const path = join(folder, 'messages.parquet');
  const rows = nastyRows('messages', 500).map((row, i) => ({
    ...row,
    agent: i < 250 ? 'claude' : 'codex',
    session_id: `s${i}`,
    event_id: `e${i}`,
    role: 'user',
  }));
  await writeFile({ format: 'parquet', table: 'messages', path }, rows);
  const meta = await query(
    connection,
    `SELECT path_in_schema AS name, compression, encodings, stats_min_value, stats_max_value FROM parquet_metadata('${path}')`,
  );
  const of = (name: string) => meta.find((column) => column['name'] === name)!;
  expect(meta.every((column) => column['compression'] === 'ZSTD')).toBe(true);
  expect(of('agent')).toMatchObject({
    encodings: 'PLAIN, RLE_DICTIONARY',
    stats_min_value: 'claude',
    stats_max_value: 'codex',
  });
  // Hashes: least and greatest would rule nothing out.
  expect(of('event_id')).toMatchObject({ encodings: 'PLAIN', stats_min_value: null, stats_max_value: null });
  expect(of('session_id')).toMatchObject({ encodings: 'PLAIN', stats_min_value: 's0', stats_max_value: 's99' });
  expect(of('text')).toMatchObject({ encodings: 'PLAIN', stats_min_value: null, stats_max_value: null });
  expect(of('timestamp')['stats_min_value']).not.toBeNull();
});

test('the footer names columns in table order, the schema version and what may be null', async () => {
  const path = join(folder, 'footer.parquet');
  await writeFile({ format: 'parquet', table: 'issues', path }, nastyRows('issues', 3));
  const schema = await query(connection, `SELECT name, repetition_type FROM parquet_schema('${path}')`);
  expect(schema.slice(1).map((row) => [row['name'], row['repetition_type']])).toEqual([
    ['agent', 'REQUIRED'],
    ['source_id', 'REQUIRED'],
    ['severity', 'REQUIRED'],
    ['code', 'REQUIRED'],
    ['message', 'REQUIRED'],
    ['ordinal', 'OPTIONAL'],
    ['byte_start', 'OPTIONAL'],
    ['byte_end', 'OPTIONAL'],
  ]);
  const pairs = await query(
    connection,
    `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata('${path}')`,
  );
  expect(pairs).toContainEqual({ key: 'sessionlake.schema_version', value: '1' });
  expect(pairs).toContainEqual({ key: 'sessionlake.table', value: 'issues' });
});

test('statistics never prune a row away that is there', async () => {
  const path = join(folder, 'prune.parquet');
  const ids = [
    'a',
    'ü',
    '\ud800',
    '😀',
    '\uffff',
    'long-common-prefix-'.repeat(3),
    `${'long-common-prefix-'.repeat(3)}z`,
    '',
    'Z',
    '\u0000',
  ];
  const rows = nastyRows('tool_results', 600).map((row, i) => ({
    ...row,
    agent: ids[Math.floor(i / 60)],
    session_id: `${ids[Math.floor(i / 60)]}${i}`,
    event_id: `${i}`,
    timestamp: (i - 300) * 1000.5,
    ordinal: i - 300,
    output: 'x'.repeat(400),
    output_json: null,
  }));
  await writeFile({ format: 'parquet', table: 'tool_results', path, rowGroupBytes: 20_000 }, rows);
  for (let i = 0; i < 600; i += 7) {
    const row = rows[i]!;
    const literal = (text: string) =>
      `'${text.toWellFormed().replaceAll("'", "''").replaceAll('\u0000', "' || chr(0) || '")}'`;
    const found = await query(
      connection,
      `SELECT ordinal FROM read_parquet('${path}') WHERE session_id = ${literal(row.session_id)} AND agent = ${literal(row.agent!)}
       AND ordinal = ${row.ordinal} AND timestamp = make_timestamptz(${Math.round(row.timestamp * 1000)})`,
    );
    expect(found, `row ${i}`).toEqual([{ ordinal: BigInt(row.ordinal) }]);
  }
});

test('keys that are long texts are stored, without dictionary and statistics', async () => {
  const path = join(folder, 'long-keys.parquet');
  const rows = nastyRows('tool_calls', 3000).map((row, i) => ({
    ...row,
    name: `${'n'.repeat(20_000)}${String(i).padStart(6, '0')}`,
  }));
  await writeFile({ format: 'parquet', table: 'tool_calls', path }, rows);
  const names = await query(connection, `SELECT name FROM read_parquet('${path}')`);
  expect(names.every((row, i) => row['name'] === rows[i]!.name)).toBe(true);
  const meta = await query(
    connection,
    `SELECT DISTINCT encodings, stats_min_value AS low FROM parquet_metadata('${path}') WHERE path_in_schema = 'name'`,
  );
  expect(meta).toEqual([{ encodings: 'PLAIN', low: null }]);
});

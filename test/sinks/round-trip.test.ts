/** What goes into a sink comes out of the reader: every table, every format, every kind of value. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { duckdbTypes } from '../../src/records/ddl.ts';
import { type Column, type TableName, tableNames, tables } from '../../src/records/tables.ts';
import { duckdbScan } from '../../src/records/views.ts';
import { countRows, fileDigest } from '../../src/sinks/read-back.ts';
import type { ParquetEngine, SinkFormat, SinkRow } from '../../src/sinks/sink.ts';
import { allRows, connect, query, typesOf } from './duckdb.ts';
import { expectRows, testFolder, writeFile } from './files.ts';
import { type Cell, expectedRow, inMillis, nastyRows, type RowShape } from './nasty-rows.ts';
import { readArrow } from './read-arrow.ts';

interface Variant {
  readonly name: string;
  readonly format: SinkFormat;
  readonly engine?: ParquetEngine;
  readonly shape?: RowShape;
}

const variants: readonly Variant[] = [
  { name: 'ndjson', format: 'ndjson' },
  { name: 'parquet', format: 'parquet' },
  { name: 'parquet by parquetjs-lite', format: 'parquet', engine: 'parquetjs-lite', shape: { safeTimes: true } },
  { name: 'arrow', format: 'arrow' },
  { name: 'arrow stream', format: 'arrow-stream' },
];

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await connect();
});

const folder = testFolder();
let files = 0;
const newPath = (format: SinkFormat) => join(folder, `${files++}.${format}`);

const isArrow = (format: SinkFormat): format is 'arrow' | 'arrow-stream' => format.startsWith('arrow');

const scanOf = (table: TableName, format: SinkFormat, path: string): string =>
  format === 'parquet'
    ? `read_parquet('${path}')`
    : duckdbScan(table, { lakeDir: 'LAKE', format: 'ndjson' }).replace(/'LAKE[^']*'/, `'${path}'`);

async function read(table: TableName, format: SinkFormat, path: string): Promise<Record<string, Cell>[]> {
  if (isArrow(format)) return readArrow(path);
  // The order of rows in the file is part of the promise
  return allRows(connection, scanOf(table, format, path));
}

const expected = (table: TableName, format: SinkFormat, rows: readonly SinkRow[]): Record<string, Cell>[] =>
  rows.map((row) => {
    const wanted = expectedRow(table, row);
    if (format !== 'ndjson') return wanted;
    const columns: readonly Column[] = tables[table].columns;
    const bytes = columns.filter(({ type }) => type === 'bytes').map(({ name }) => name);
    return {
      ...inMillis(table, wanted),
      ...Object.fromEntries(bytes.map((name) => [name, inNdjson(wanted[name] as string)])),
    };
  });

/** Bytes that are no UTF-8 stand as base64 in NDJSON; all are text there. */
const inNdjson = (hex: string): string => {
  const bytes = Buffer.from(hex, 'hex');
  const text = bytes.toString('utf8');
  return Buffer.from(Buffer.from(text, 'utf8').equals(bytes) ? text : bytes.toString('base64'), 'utf8').toString('hex');
};

describe.each(variants)('$name', ({ format, engine, shape }) => {
  const options = { format, ...(engine && { engine }) };

  test.each(tableNames)('%s: every value comes back as it went in', async (table) => {
    const rows = nastyRows(table, 300, shape);
    const path = newPath(format);
    const file = await writeFile({ ...options, table, path }, rows);
    expectRows(await read(table, format, path), expected(table, format, rows));
    expect(file).toMatchObject({ path, rows: 300, ...fileDigest(path) });
    expect(await countRows(path, format)).toBe(300);
  });

  test.each(tableNames)('%s: columns that are null throughout', async (table) => {
    const rows = nastyRows(table, 20, { ...shape, allNull: true });
    const path = newPath(format);
    await writeFile({ ...options, table, path }, rows);
    expectRows(await read(table, format, path), expected(table, format, rows));
  });

  test('the file says its types', async () => {
    if (isArrow(format)) return;
    for (const table of tableNames) {
      const path = newPath(format);
      await writeFile({ ...options, table, path }, nastyRows(table, 3, shape));
      const declared = Object.fromEntries(tables[table].columns.map(({ name, type }) => [name, duckdbTypes[type]]));
      expect(await typesOf(connection, `SELECT * FROM ${scanOf(table, format, path)}`)).toEqual(declared);
    }
  });

  test('12,000 rows in many row groups keep their order and their values', async () => {
    const rows = nastyRows('tool_calls', 12_000, shape).map((row, i) => ({
      ...row,
      ordinal: i,
      arguments: `call ${i} ${'x'.repeat(i % 500)}`,
    }));
    const path = newPath(format);
    const file = await writeFile({ ...options, table: 'tool_calls', path, rowGroupBytes: 400_000 }, rows);
    expectRows(await read('tool_calls', format, path), expected('tool_calls', format, rows));
    expect(await countRows(path, format)).toBe(12_000);
    // Grows with the rows, and does not explode past the first thousands
    expect(file!.bytes).toBeLessThan(60_000_000);
    if (format === 'parquet') {
      const groups = await query(
        connection,
        `SELECT count(DISTINCT row_group_id) AS n FROM parquet_metadata('${path}')`,
      );
      expect(groups[0]!['n']).toBeGreaterThan(5n);
    }
  });

  test('texts of a megabyte, as string and as bytes', async () => {
    const long = '0123456789 größe "😀"\n'.repeat(50_000);
    const rows = nastyRows('tool_results', 6, shape).map((row, i) => ({
      ...row,
      output: i % 2 ? long : Buffer.from(long),
    }));
    const path = newPath(format);
    await writeFile({ ...options, table: 'tool_results', path, rowGroupBytes: 1_500_000 }, rows);
    expectRows(await read('tool_results', format, path), expected('tool_results', format, rows));
  });

  test('4,000 long texts of equal length and beginning stay apart', async () => {
    const rows = nastyRows('tool_results', 4000, shape).map((row, i) => ({
      ...row,
      output: `${'cut at a limit '.repeat(3333)}${String(i).padStart(8, '0')}`,
      output_json: null,
    }));
    const path = newPath(format);
    await writeFile({ ...options, table: 'tool_results', path }, rows);
    const output = `SELECT output FROM ${scanOf('tool_results', format, path)}`;
    const texts = (isArrow(format) ? readArrow(path) : await query(connection, output)).map((row) => row['output']);
    expect(texts.length).toBe(4000);
    expect(texts.every((text, i) => text === rows[i]!.output)).toBe(true);
  });

  test('the same rows give the same bytes', async () => {
    const hashes = new Set<string>();
    for (let run = 0; run < 2; run++) {
      const path = newPath(format);
      const file = await writeFile(
        { ...options, table: 'messages', path, rowGroupBytes: 200_000 },
        nastyRows('messages', 900, shape),
      );
      expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(file!.sha256);
      hashes.add(file!.sha256);
    }
    expect(hashes.size).toBe(1);
  });

  test('partition columns are left out', async () => {
    const path = newPath(format);
    await writeFile({ ...options, table: 'issues', path, omit: ['agent'] }, nastyRows('issues', 5, shape));
    const names = isArrow(format)
      ? Object.keys(readArrow(path)[0]!)
      : format === 'parquet'
        ? Object.keys((await query(connection, `SELECT * FROM read_parquet('${path}')`))[0]!)
        : Object.keys(JSON.parse(readFileSync(path, 'utf8').split('\n')[0]!));
    expect(names).toEqual([
      ...(format === 'ndjson' ? ['record'] : []),
      ...tables.issues.columns.map(({ name }) => name).filter((name) => name !== 'agent'),
    ]);
  });

  test('only its owner may read the file', async () => {
    const path = newPath(format);
    await writeFile({ ...options, table: 'issues', path }, nastyRows('issues', 1, shape));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

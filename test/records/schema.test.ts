/** What is derived from the tables says the same as the tables. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createTable, createTables, sqlDialects } from '../../src/records/ddl.ts';
import { tableDocs, tablesDocs } from '../../src/records/docs.ts';
import { jsonSchema, streamJsonSchema } from '../../src/records/schema-json.ts';
import { type Column, tableNames, tables } from '../../src/records/tables.ts';
import { ndjsonSchema, rowSchema } from '../../src/records/zod.ts';
import { encodeNdjsonRow } from '../../src/sinks/ndjson.ts';
import { nastyRows } from '../sinks/nasty-rows.ts';

const columnsOf = (table: (typeof tableNames)[number]): readonly Column[] => tables[table].columns;
/** Every key there, absent ones as null: what the decoding layer hands over. */
const wholeRows = (table: (typeof tableNames)[number], count: number) =>
  nastyRows(table, count).map((row) =>
    Object.fromEntries(columnsOf(table).map(({ name }) => [name, row[name] ?? null])),
  );

describe.each(tableNames)('%s', (table) => {
  test('rows pass their zod schema, and only they do', () => {
    const schema = rowSchema(table);
    const [row] = wholeRows(table, 40).map((whole) => {
      expect(schema.safeParse(whole).error).toBeUndefined();
      return whole;
    });
    expect(schema.safeParse({ ...row, surplus: 1 }).success).toBe(false);
    for (const { name, nullable } of columnsOf(table)) {
      expect(schema.safeParse({ ...row, [name]: null }).success).toBe(nullable);
      expect(schema.safeParse({ ...row, [name]: Symbol('no cell') }).success).toBe(false);
      const { [name]: _, ...without } = row!;
      expect(schema.safeParse(without).success).toBe(false);
    }
  });

  test('NDJSON lines pass the JSON Schema', () => {
    const schema = z.fromJSONSchema(jsonSchema(table) as Parameters<typeof z.fromJSONSchema>[0]);
    for (const row of nastyRows(table, 40)) {
      const line = JSON.parse(encodeNdjsonRow(table, row).toString('utf8'));
      expect(schema.safeParse(line).error).toBeUndefined();
      expect(schema.safeParse({ ...line, surplus: 1 }).success).toBe(false);
      expect(schema.safeParse({ ...line, record: 'other' }).success).toBe(false);
      const { source_id: _, ...without } = line;
      expect(schema.safeParse(without).success).toBe(false);
    }
  });

  test('the NDJSON schema can do without partition columns', () => {
    const line = JSON.parse(encodeNdjsonRow(table, nastyRows(table, 1)[0]!).toString('utf8'));
    const { agent: _, ...without } = line;
    expect(ndjsonSchema(table, ['agent']).safeParse(without).success).toBe(true);
    expect(ndjsonSchema(table).safeParse(without).success).toBe(false);
  });

  test.each(sqlDialects)(
    'CREATE TABLE for %s names every column, with its type and whether it may be null',
    (dialect) => {
      const sql = createTable(table, dialect);
      const quote = dialect === 'duckdb' ? '"' : '`';
      for (const { name, nullable, type } of columnsOf(table)) {
        const line = sql.split('\n').find((text) => text.startsWith(`  ${quote}${name}${quote} `))!;
        if (dialect === 'clickhouse') expect(line.includes('Nullable(')).toBe(nullable && type !== 'list');
        else if (dialect === 'bigquery') expect(line.includes(' NOT NULL')).toBe(!nullable && type !== 'list');
        else expect(line.includes(' NOT NULL')).toBe(!nullable);
      }
      expect(sql.trimEnd().endsWith(';')).toBe(true);
    },
  );

  test('the docs have one line a column', () => {
    const docs = tableDocs(table);
    const lines = docs.split('\n');
    for (const { name, doc } of columnsOf(table)) {
      expect(lines.find((line) => line.startsWith(`| \`${name}\` | `))).toContain(doc.replaceAll('|', '\\|'));
    }
    expect(docs.split('\n').filter((line) => line.startsWith('| `')).length).toBe(columnsOf(table).length);
  });
});

test('ClickHouse sorts only by columns that are never null', () => {
  expect(createTable('messages', 'clickhouse')).toContain('ORDER BY (agent, source_id, event_id)');
  expect(createTable('sessions', 'clickhouse')).toContain('ORDER BY (agent, session_id, source_id)');
});

test('quotes in docs are escaped as the dialect wants it', () => {
  expect(createTable('messages', 'duckdb')).toContain("'The provider''s id of the message.'");
  expect(createTable('messages', 'bigquery')).toContain("'The provider\\'s id of the message.'");
});

test('one schema for streams, one script and one page for all tables', () => {
  expect(Object.keys((streamJsonSchema() as { $defs: object }).$defs)).toEqual(tableNames);
  expect(createTables('bigquery').match(/CREATE TABLE/g)!.length).toBe(tableNames.length);
  expect(tablesDocs().match(/^## /gm)!.length).toBe(tableNames.length);
});

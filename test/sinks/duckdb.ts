/** DuckDB as the independent reader of what the sinks write. */
import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Cell } from './nasty-rows.ts';

export const connect = async (): Promise<DuckDBConnection> => (await DuckDBInstance.create()).connect();

function cell(value: DuckDBValue): Cell {
  if (value instanceof DuckDBTimestampTZValue) return value.micros;
  if (value instanceof DuckDBListValue) return value.items.map((item) => item as string);
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('hex');
  return value as Cell;
}

/** Rows of a query, as plain cells. */
export async function query(connection: DuckDBConnection, sql: string): Promise<Record<string, Cell>[]> {
  const reader = await connection.runAndReadAll(sql);
  const names = reader.columnNames();
  return reader.getRows().map((row) => Object.fromEntries(row.map((value, i) => [names[i]!, cell(value)])));
}

/** All rows of a table. Texts come as bytes, because the client drops a byte order mark from strings. */
export async function allRows(connection: DuckDBConnection, from: string): Promise<Record<string, Cell>[]> {
  const types = await typesOf(connection, `SELECT * FROM ${from}`);
  const texts = Object.keys(types).filter((name) => types[name] === 'VARCHAR');
  const replace = texts.map((name) => `encode("${name}") AS "${name}"`).join(', ');
  const rows = await query(connection, `SELECT * REPLACE (${replace}) FROM ${from}`);
  for (const row of rows) {
    for (const name of texts)
      if (row[name] !== null) row[name] = Buffer.from(row[name] as string, 'hex').toString('utf8');
  }
  return rows;
}

/** Names and types of a query's columns. */
export async function typesOf(connection: DuckDBConnection, sql: string): Promise<Record<string, string>> {
  const rows = await query(connection, `DESCRIBE ${sql}`);
  return Object.fromEntries(rows.map((row) => [row['column_name'], row['column_type']]));
}

/** CREATE TABLE statements for warehouses, derived from the tables. */
import { type Column, type ColumnType, type Table, type TableName, tableNames, tables } from './tables.ts';

export const sqlDialects = ['duckdb', 'bigquery', 'clickhouse'] as const;
export type SqlDialect = (typeof sqlDialects)[number];

/** DuckDB's type of each column; also what `read_json` is told. */
export const duckdbTypes: Readonly<Record<ColumnType, string>> = {
  key: 'VARCHAR',
  id: 'VARCHAR',
  text: 'VARCHAR',
  json: 'VARCHAR',
  int: 'BIGINT',
  float: 'DOUBLE',
  bool: 'BOOLEAN',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
  list: 'VARCHAR[]',
  bytes: 'BLOB',
};

const bigqueryTypes: Readonly<Record<ColumnType, string>> = {
  key: 'STRING',
  id: 'STRING',
  text: 'STRING',
  json: 'STRING',
  int: 'INT64',
  float: 'FLOAT64',
  bool: 'BOOL',
  timestamp: 'TIMESTAMP',
  list: 'ARRAY<STRING>',
  bytes: 'BYTES',
};

const clickhouseTypes: Readonly<Record<ColumnType, string>> = {
  key: 'String',
  id: 'String',
  text: 'String',
  json: 'String',
  int: 'Int64',
  float: 'Float64',
  bool: 'Bool',
  timestamp: "DateTime64(6, 'UTC')",
  list: 'Array(String)',
  bytes: 'String',
};

/** An SQL string literal. ClickHouse and BigQuery read backslashes in it as escapes. */
const literal = (text: string, dialect: SqlDialect): string =>
  dialect === 'duckdb'
    ? `'${text.replaceAll("'", "''")}'`
    : `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

function clickhouseType({ type, nullable }: Column): string {
  const base = clickhouseTypes[type];
  // Arrays cannot be nullable; a missing list loads as an empty one
  const outer = nullable && type !== 'list' ? `Nullable(${base})` : base;
  return type === 'key' ? `LowCardinality(${outer})` : outer;
}

function columnSql(column: Column, dialect: SqlDialect): string {
  const doc = literal(column.doc, dialect);
  switch (dialect) {
    case 'duckdb':
      return `"${column.name}" ${duckdbTypes[column.type]}${column.nullable ? '' : ' NOT NULL'}`;
    case 'bigquery': {
      // Arrays are never null in BigQuery and may not be declared so
      const required = column.nullable || column.type === 'list' ? '' : ' NOT NULL';
      return `\`${column.name}\` ${bigqueryTypes[column.type]}${required} OPTIONS(description=${doc})`;
    }
    case 'clickhouse':
      return `\`${column.name}\` ${clickhouseType(column)} COMMENT ${doc}`;
  }
}

/** Columns by which ClickHouse sorts, so that an agent's sources lie together; none of them is nullable. */
const sortKey = (columns: readonly Column[]): string[] =>
  ['agent', 'session_id', 'source_id', 'event_id'].filter((name) =>
    columns.some((column) => column.name === name && !column.nullable),
  );

function tableEnd(table: Table, dialect: SqlDialect): string {
  switch (dialect) {
    case 'duckdb':
      return '';
    case 'bigquery':
      return ` OPTIONS(description=${literal(table.doc, dialect)})`;
    case 'clickhouse':
      return ` ENGINE = MergeTree ORDER BY (${sortKey(table.columns).join(', ')}) COMMENT ${literal(table.doc, dialect)}`;
  }
}

/** `CREATE TABLE IF NOT EXISTS`, ended by a semicolon; in DuckDB followed by the comments. */
export function createTable(name: TableName, dialect: SqlDialect): string {
  const table: Table = tables[name];
  const quoted = dialect === 'duckdb' ? `"${name}"` : `\`${name}\``;
  const columns = table.columns.map((column) => `  ${columnSql(column, dialect)}`).join(',\n');
  const create = `CREATE TABLE IF NOT EXISTS ${quoted} (\n${columns}\n)${tableEnd(table, dialect)};\n`;
  if (dialect !== 'duckdb') return create;
  const comments = table.columns.map(
    (column) => `COMMENT ON COLUMN "${name}"."${column.name}" IS ${literal(column.doc, dialect)};\n`,
  );
  return `${create}COMMENT ON TABLE "${name}" IS ${literal(table.doc, dialect)};\n${comments.join('')}`;
}

/** The statements for several tables. */
export const createTables = (dialect: SqlDialect, names: readonly TableName[] = tableNames): string =>
  names.map((name) => createTable(name, dialect)).join('\n');

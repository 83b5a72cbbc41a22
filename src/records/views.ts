/**
 * DuckDB views over a lake folder. The files hold every revision of a row; the views show the newest one. Types are
 * given where the format has none, so that they never drift with the data.
 */
import { duckdbTypes } from './ddl.ts';
import { ndjsonKey } from './ndjson-key.ts';
import { type Column, type Table, type TableName, tableNames, tables } from './tables.ts';

export type LakeFormat = 'parquet' | 'ndjson' | 'arrow' | 'arrow-stream';

const extensions: Readonly<Record<LakeFormat, string>> = {
  parquet: 'parquet',
  ndjson: 'ndjson',
  arrow: 'arrow',
  'arrow-stream': 'arrows',
};

export interface ViewOptions {
  /** Folder of the lake, as DuckDB will see it. */
  readonly lakeDir: string;
  readonly format: LakeFormat;
  /** Tables that have files or will have them; the views of others are empty (DuckDB refuses a pattern without files). All by default. */
  readonly withFiles?: Iterable<TableName>;
  /**
   * The longest NDJSON line that DuckDB shall take, in bytes. DuckDB's own default of 16 MiB is too little for
   * transcripts; each of its threads may take twice this much memory. 128 MiB by default.
   */
  readonly maximumObjectSize?: number;
}

const MAXIMUM_OBJECT_SIZE = 128 * 1024 * 1024;

const quoted = (name: string): string => `"${name}"`;
const columnsOf = (table: TableName): readonly Column[] => tables[table].columns;
const hasColumn = (table: TableName, name: string): boolean => columnsOf(table).some((column) => column.name === name);

/** The files of a table, in all partitions. Characters that DuckDB would take as a pattern are made plain. */
function pattern(lakeDir: string, table: TableName, format: LakeFormat): string {
  const plain = lakeDir.replaceAll('\\', '/').replace(/\/$/, '').replace(/[[*?]/g, '[$&]').replaceAll("'", "''");
  return `'${plain}/${table}/**/*.${extensions[format]}'`;
}

/** Partition columns come from the folder names, as text; a lake without partitions has none. */
const HIVE = 'hive_partitioning = true, hive_types_autocast = false';

/** All rows of a table, every revision, with the declared types: something to put behind FROM. */
export function duckdbScan(table: TableName, { lakeDir, format, withFiles, maximumObjectSize }: ViewOptions): string {
  const columns = columnsOf(table);
  if (withFiles !== undefined && ![...withFiles].includes(table)) {
    const nulls = columns.map(({ name, type }) => `NULL::${duckdbTypes[type]} AS ${quoted(name)}`);
    return `(SELECT ${nulls.join(', ')} WHERE false)`;
  }
  const files = pattern(lakeDir, table, format);
  const names = columns.map(({ name }) => quoted(name)).join(', ');
  switch (format) {
    case 'parquet':
      return `(SELECT ${names} FROM read_parquet(${files}, union_by_name = true, ${HIVE}))`;
    case 'ndjson': {
      const types = columns.map((column) => `${quoted(ndjsonKey(column))}: '${duckdbTypes[jsonType(column)]}'`);
      const size = `maximum_object_size = ${maximumObjectSize ?? MAXIMUM_OBJECT_SIZE}`;
      const scan = `read_json(${files}, format = 'newline_delimited', ${size}, ${HIVE}, columns = {${types.join(', ')}})`;
      const renamed = columns.map((column) => {
        const key = quoted(ndjsonKey(column));
        const value = column.type === 'bytes' ? `encode(${key})` : key;
        return value === quoted(column.name) ? value : `${value} AS ${quoted(column.name)}`;
      });
      return `(SELECT ${renamed.join(', ')} FROM ${scan})`;
    }
    case 'arrow':
    case 'arrow-stream':
      return `(SELECT ${names} FROM read_arrow(${files}, union_by_name = true, hive_partitioning = true))`;
  }
}

/** Bytes are text in NDJSON. */
const jsonType = (column: Column): Column['type'] => (column.type === 'bytes' ? 'text' : column.type);

const selectList = (table: TableName, replace: (column: Column) => string | null = () => null): string =>
  columnsOf(table)
    .map((column) => {
      const expression = replace(column);
      return expression === null ? quoted(column.name) : `${expression} AS ${quoted(column.name)}`;
    })
    .join(', ');

const NEWEST = 'generation DESC, revision DESC';

/** The newest row by (generation, revision); where two sources tell the same, the first source's. */
const newestBy = (table: TableName, key: string, scan: string): string =>
  `SELECT ${selectList(table)} FROM ${scan}\n` +
  `QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY ${NEWEST}, source_id) = 1`;

/**
 * A revision of kind `withdrawn` says that the store no longer holds the message, and holds nothing itself: while it is
 * the newest, the newest other revision is shown with is_active = false.
 */
const messagesQuery = (scan: string): string => {
  const withdrawn = "(kind IS NOT DISTINCT FROM 'withdrawn')";
  const active = ({ name }: Column) => (name === 'is_active' ? '(is_active AND NOT withdrawn_since)' : null);
  return (
    `SELECT ${selectList('messages', active)} FROM (\n` +
    `  SELECT *, first_value(${withdrawn}) OVER (PARTITION BY event_id ORDER BY ${NEWEST}) AS withdrawn_since\n` +
    `  FROM ${scan}\n` +
    `  QUALIFY row_number() OVER (PARTITION BY event_id ORDER BY ${withdrawn}, ${NEWEST}, source_id) = 1\n` +
    `)\nWHERE NOT ${withdrawn}`
  );
};

/** Postings summed up: an event's newest native counters with all that it has added to the ledger. */
const usageCurrentQuery = (scan: string): string => {
  const summed = ({ name }: Column) =>
    name.startsWith('counted_') ? `(sum(${quoted(name)}) OVER (PARTITION BY event_id))::BIGINT` : null;
  return (
    `SELECT ${selectList('usage', summed)} FROM ${scan}\n` +
    `QUALIFY row_number() OVER (PARTITION BY event_id ORDER BY (basis = 'reversal'), ${NEWEST}, source_id) = 1`
  );
};

/** Ids of batches are numbers that only grow, filled up with zeros; clocks go back. */
const NEWEST_BATCH = 'length(batch_id) DESC, batch_id DESC';

const sourcesQuery = (scan: string): string =>
  `SELECT ${selectList('sources')} FROM ${scan}\n` +
  `QUALIFY row_number() OVER (PARTITION BY source_id ORDER BY generation DESC, ${NEWEST_BATCH}, ingested_at DESC NULLS LAST) = 1`;

function query(table: TableName, scan: string): string {
  switch (table) {
    case 'sessions':
      return newestBy(table, 'agent, session_id', scan);
    case 'messages':
      return messagesQuery(scan);
    case 'sources':
      return sourcesQuery(scan);
    case 'usage':
      // Postings: each row counts, plain SUM is right
      return `SELECT ${selectList(table)} FROM ${scan}`;
    default:
      return hasColumn(table, 'event_id')
        ? newestBy(table, 'event_id', scan)
        : `SELECT ${selectList(table)} FROM ${scan}`;
  }
}

const createView = (name: string, doc: string, body: string): string =>
  `-- ${doc}\nCREATE OR REPLACE VIEW ${quoted(name)} AS\n${body};\n`;

/** The view (usage: the two views) of one table, as statements ended by semicolons. */
export function duckdbView(table: TableName, options: ViewOptions): string {
  const scan = duckdbScan(table, options);
  const { doc }: Table = tables[table];
  const view = createView(table, doc, query(table, scan));
  if (table !== 'usage') return view;
  const current = 'One row a reply: its newest native counters, and what all its postings add.';
  return `${view}\n${createView('usage_current', current, usageCurrentQuery(scan))}`;
}

const ARROW_NOTE = `-- DuckDB reads Arrow IPC only with the community extension nanoarrow, which it downloads once.
INSTALL nanoarrow FROM community;
LOAD nanoarrow;

`;

/** All views, as one script. */
export function duckdbViews(options: ViewOptions, of: readonly TableName[] = tableNames): string {
  const views = of.map((table) => duckdbView(table, options)).join('\n');
  return options.format.startsWith('arrow') ? ARROW_NOTE + views : views;
}

/** The reference of the tables as Markdown, derived from the tables. */
import { type Column, type ColumnType, type Table, type TableName, tableNames, tables } from './tables.ts';

const typeNames: Readonly<Record<ColumnType, string>> = {
  key: 'string',
  id: 'string',
  text: 'string',
  json: 'string (JSON)',
  int: 'int64',
  float: 'double',
  bool: 'boolean',
  timestamp: 'timestamp (UTC)',
  list: 'list of strings',
  bytes: 'bytes',
};

const escapeCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const columnRow = ({ name, type, nullable, doc }: Column): string =>
  `| \`${name}\` | ${typeNames[type]} | ${nullable ? 'yes' : ''} | ${escapeCell(doc)} |`;

/** One table: heading, what it holds, its columns. */
export function tableDocs(name: TableName): string {
  const { record, optIn, doc, columns }: Table = tables[name];
  return [
    `## ${name}`,
    '',
    `${doc} In NDJSON \`"record":"${record}"\`.${optIn ? ' Written only when asked for (`--tables`).' : ''}`,
    '',
    '| column | type | null | meaning |',
    '|---|---|---|---|',
    ...columns.map(columnRow),
    '',
  ].join('\n');
}

/** All tables, with a list of them on top. */
export const tablesDocs = (): string =>
  [
    '# Tables',
    '',
    'Generated from `src/records/tables.ts`.',
    '',
    ...tableNames.map((name) => `- [${name}](#${name}): ${tables[name].doc}`),
    '',
    ...tableNames.map(tableDocs),
  ].join('\n');

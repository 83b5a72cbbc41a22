/**
 * Rows as they leave: types of the NDJSON objects, derived from the tables. Inside, texts may travel as bytes and times
 * as numbers; outside, texts are strings and times ISO-8601 with ms and Z.
 */
import type { Column, ColumnType, TableName, tables } from './tables.ts';

interface JsonValues extends Record<ColumnType, unknown> {
  key: string;
  id: string;
  text: string;
  json: string;
  int: number;
  float: number;
  bool: boolean;
  timestamp: string;
  list: readonly string[];
  bytes: string;
}

/** As `ndjsonKey` says: `record` names the kind of a row. */
type JsonKey<Name extends string> = Name extends 'record' ? 'record_bytes' : Name;

type JsonCell<C extends Column> = C['nullable'] extends true ? JsonValues[C['type']] | null : JsonValues[C['type']];

/** A row of a table as an NDJSON line holds it: `record` names its kind, and every column is there. */
export type JsonRow<N extends TableName> = { readonly record: (typeof tables)[N]['record'] } & {
  readonly [C in (typeof tables)[N]['columns'][number] as JsonKey<C['name']>]: JsonCell<C>;
};

/** Rows by table. */
export type JsonRows = { readonly [N in TableName]: JsonRow<N> };

/** A row of any table; `record` tells which. */
export type AnyJsonRow = JsonRows[TableName];

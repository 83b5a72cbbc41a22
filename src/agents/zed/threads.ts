/** Threads in the database: a row each, with a document that is compressed since 2025. */
import { zstdDecompressSync } from 'node:zlib';
import type { SqlRow, StoreDatabase } from '../../framing/database.ts';
import { recordError } from '../../framing/errors.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { TableShapes } from '../dialects/tables.ts';

const TABLE = 'threads';

export const schema: StoreSchema = {
  product: 'Zed',
  layouts: [{ tables: { [TABLE]: ['id', 'summary', 'updated_at', 'data_type', 'data'] } }],
};

/** Columns that came later. */
const LATER = ['parent_id', 'folder_paths', 'created_at'] as const;

export function listThreads(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const sql = `SELECT id, summary, updated_at, ${shapes.select(TABLE, ...LATER)}, octet_length(data) AS bytes FROM ${TABLE} ORDER BY id`;
  const members: DatabaseMember[] = [];
  for (const row of database.each(sql)) {
    const { id, bytes, ...facts } = row;
    members.push({
      member: String(id),
      state: JSON.stringify([...Object.values(facts).map(String), String(bytes)]),
      bytes: Number(bytes ?? 0),
    });
  }
  return members;
}

export function* queryThread(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const sql = `SELECT summary, updated_at, ${shapes.select(TABLE, ...LATER)}, data_type, ${cappedColumn('data', limit)} FROM ${TABLE} WHERE id = ?`;
  for (const row of database.each(sql, member)) {
    const { summary, updated_at, parent_id, folder_paths, created_at } = row;
    yield {
      locator: `${TABLE}/${member}`,
      value: () => ({ summary, updated_at, parent_id, folder_paths, created_at, document: documentOf(row, limit) }),
    };
  }
}

/** Throws a record-scoped error where the document cannot be had. */
function documentOf(row: SqlRow, limit: number): unknown {
  const { data, data_type: type } = row;
  if (type !== 'zstd' && type !== 'json') throw recordError('unknown_encoding', 'data_type is neither zstd nor json');
  if (type === 'json' || !(data instanceof Uint8Array)) return jsonColumn(row, 'data');
  let bytes: Buffer;
  try {
    bytes = zstdDecompressSync(data, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw recordError(
        'record_too_long',
        `data is over --max-line ${limit} when it is decompressed; raise it to read it`,
      );
    throw recordError('malformed_zstd', 'data does not decompress');
  }
  return jsonColumn({ data: bytes }, 'data');
}

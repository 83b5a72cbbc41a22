/** Conversations in the databases: one JSON value each. */
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { TableShapes } from '../dialects/tables.ts';

/** Newer: one conversation may stand under several folders, of which the row that was written last is valid. */
const NEW = 'conversations_v2';
/** Amazon Q: one conversation a folder, whose id stands in the value. */
const OLD = 'conversations';

export const schema: StoreSchema = {
  product: 'Kiro CLI',
  layouts: [
    { tables: { [NEW]: ['key', 'conversation_id', 'value', 'updated_at'] } },
    { tables: { [OLD]: ['key', 'value'] } },
  ],
};

export function listConversations(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const members: DatabaseMember[] = [];
  if (shapes.has(NEW, 'conversation_id', 'updated_at')) {
    const sql = `SELECT conversation_id AS id, max(updated_at) AS updated, count(*) AS rows FROM ${NEW} GROUP BY conversation_id ORDER BY 1`;
    for (const row of database.each(sql))
      members.push({ member: String(row['id']), state: `${row['updated']} ${row['rows']}` });
  }
  if (shapes.has(OLD, 'key', 'value')) {
    const id =
      "CASE WHEN octet_length(value) < 67108864 AND json_valid(value) THEN json_extract(value, '$.conversation_id') END";
    for (const row of database.each(
      `SELECT ${id} AS id, key, octet_length(value) AS bytes, rowid AS number FROM ${OLD} ORDER BY key`,
    )) {
      const member = row['id'] === null ? `folder ${row['key']}` : String(row['id']);
      members.push({
        member,
        state: `${row['number']} ${row['bytes']}`,
        bytes: Number(row['bytes'] ?? 0),
        hints: { folder: String(row['key']) },
      });
    }
  }
  return members;
}

export function* queryConversation(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const value = cappedColumn('value', limit);
  if (shapes.has(NEW, 'conversation_id', 'updated_at')) {
    const sql = `SELECT key, ${value} FROM ${NEW} WHERE conversation_id = ? ORDER BY updated_at DESC LIMIT 1`;
    for (const row of database.each(sql, member))
      yield { locator: `${NEW}/${member}`, value: () => ({ folder: row['key'], value: jsonColumn(row, 'value') }) };
  }
  if (shapes.has(OLD, 'key', 'value')) {
    const isNamed = member.startsWith('folder ');
    const where = isNamed
      ? 'key = ?'
      : "octet_length(value) < 67108864 AND json_valid(value) AND json_extract(value, '$.conversation_id') = ?";
    const sql = `SELECT key, ${value} FROM ${OLD} WHERE ${where} LIMIT 1`;
    for (const row of database.each(sql, isNamed ? member.slice('folder '.length) : member))
      yield { locator: `${OLD}/${row['key']}`, value: () => ({ folder: row['key'], value: jsonColumn(row, 'value') }) };
  }
}

/** Conversations in the database. */
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';

const TABLE = 'conversations';

export const schema: StoreSchema = {
  product: 'ForgeCode',
  layouts: [{ tables: { [TABLE]: ['conversation_id', 'title', 'context', 'updated_at'] } }],
};

/** Contexts above this are not searched for the agents they started. */
const SEARCHED = 'octet_length(context) < 67108864 AND json_valid(context)';

/** Rows without a context were never begun. `workspace_id` is a 64-bit hash, and is not selected. */
export function listConversations(database: StoreDatabase): DatabaseMember[] {
  const parents = new Map<string, string>();
  const children = `SELECT c.conversation_id AS parent, j.value AS child
    FROM (SELECT conversation_id, context FROM ${TABLE} WHERE instr(context, '"aI"') > 0 AND ${SEARCHED}) c,
      json_tree(c.context) j
    WHERE j.key = 'conversation_id' AND j.path LIKE '%.aI'`;
  for (const row of database.each(children)) {
    const [parent, child] = [String(row['parent']), String(row['child'])];
    if (parent !== child && !parents.has(child)) parents.set(child, parent);
  }
  const members: DatabaseMember[] = [];
  const rows = `SELECT conversation_id AS id, updated_at AS updated, title, octet_length(context) AS bytes
    FROM ${TABLE} WHERE context IS NOT NULL ORDER BY 1`;
  for (const row of database.each(rows)) {
    const member = String(row['id']);
    members.push({
      member,
      state: JSON.stringify([String(row['updated']), String(row['bytes']), row['title'] ?? null]),
      bytes: Number(row['bytes'] ?? 0),
      hints: { parent: parents.get(member) ?? null },
    });
  }
  return members;
}

export function* queryConversation(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const sql = `SELECT title, ${cappedColumn('context', limit)} FROM ${TABLE} WHERE conversation_id = ?`;
  for (const row of database.each(sql, member))
    yield {
      locator: `${TABLE}/${member}`,
      value: () => ({ title: row['title'], context: jsonColumn(row, 'context') }),
    };
}

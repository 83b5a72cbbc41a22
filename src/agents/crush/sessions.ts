/** Sessions and messages of a database. */
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { narrowed, TableShapes } from '../dialects/tables.ts';

const SESSION_COLUMNS = [
  'parent_session_id',
  'title',
  'prompt_tokens',
  'completion_tokens',
  'cost',
  'created_at',
  'updated_at',
  'summary_message_id',
] as const;

export const schema: StoreSchema = {
  product: 'Crush',
  layouts: [{ tables: { sessions: ['id'], messages: ['id', 'session_id', 'role', 'parts', 'created_at'] } }],
  version: { table: 'goose_db_version', column: 'version_id' },
};

/**
 * Sessions that hold messages: those of the title generator are empty. `updated_at` has a second's resolution, so
 * lengths are looked at too.
 */
export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const facts = new Map<string, string>();
  for (const row of database.each(`SELECT id, ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions`))
    facts.set(String(row['id']), SESSION_COLUMNS.map((column) => String(row[column])).join('|'));
  const narrow = narrowed('messages', {
    id: 'session_id',
    number: 'rowid',
    updated: shapes.has('messages', 'updated_at') ? 'updated_at' : '0',
    bytes: 'octet_length(parts)',
  });
  const sql = `${narrow} SELECT id, count(*) || ':' || max(number) || ':' || max(updated) || ':' || sum(updated) || ':' || sum(bytes) AS state,
    sum(bytes) AS bytes FROM narrow GROUP BY id ORDER BY id`;
  return database.all(sql).map((row) => {
    const member = String(row['id']);
    return {
      member,
      state: `${facts.get(member) ?? ''} ${row['state']}`,
      bytes: Number(row['bytes'] ?? 0),
    };
  });
}

/** The session, then its messages: several a second are normal, and their ids are random. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const session = `SELECT ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions WHERE id = ?`;
  for (const row of database.each(session, member)) yield { locator: `sessions/${member}`, value: () => row };
  const columns = shapes.select('messages', 'id', 'role', 'model', 'created_at', 'is_summary_message');
  const sql = `SELECT ${columns}, ${cappedColumn('parts', limit)} FROM messages WHERE session_id = ? ORDER BY created_at, rowid`;
  for (const row of database.each(sql, member)) {
    const { id, role, model, created_at, is_summary_message } = row;
    yield {
      locator: `messages/${id}`,
      value: () => ({ id, role, model, created_at, is_summary_message, parts: jsonColumn(row, 'parts') }),
    };
  }
}

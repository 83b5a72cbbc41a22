/** Sessions and records of the database. */
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { parseOrUndefined } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { narrowed, TableShapes } from '../dialects/tables.ts';

const SESSION_COLUMNS = [
  'name',
  'description',
  'session_type',
  'working_dir',
  'parent_session_id',
  'created_at',
  'updated_at',
  'accumulated_input_tokens',
  'accumulated_output_tokens',
  'accumulated_cache_read_tokens',
  'accumulated_cache_write_tokens',
  'accumulated_total_tokens',
  'accumulated_cost',
] as const;

const MESSAGE_COLUMNS = ['message_id', 'role', 'created_timestamp'] as const;
const LEDGER_COLUMNS = [
  'created_timestamp',
  'model',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost',
  'cost_source',
  'is_compaction',
] as const;

export const schema: StoreSchema = {
  product: 'Goose',
  layouts: [
    { tables: { sessions: ['id'], messages: ['id', 'session_id', 'role', 'content_json', 'created_timestamp'] } },
  ],
  version: { table: 'schema_version', column: 'version' },
};

/** Sessions with what tells that they changed: `updated_at` has a second's resolution, so rows are counted too. */
export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const states = new Map<string, string>();
  const bytes = new Map<string, number>();
  if (shapes.has('messages', 'session_id', 'content_json')) {
    const narrow = narrowed('messages', {
      session: 'session_id',
      number: 'id',
      bytes: 'octet_length(content_json)',
      metadata: shapes.has('messages', 'metadata_json') ? 'octet_length(metadata_json)' : '0',
    });
    const sql = `${narrow} SELECT session AS id, count(*) || ':' || max(number) || ':' || sum(bytes) || ':' || coalesce(sum(metadata), 0) AS state,
      sum(bytes) AS bytes FROM narrow GROUP BY session`;
    for (const row of database.each(sql)) {
      states.set(String(row['id']), String(row['state']));
      bytes.set(String(row['id']), Number(row['bytes'] ?? 0));
    }
  }
  if (shapes.has('usage_ledger', 'session_id')) {
    const sql = `SELECT session_id AS id, count(*) || ':' || max(id) AS state FROM usage_ledger GROUP BY session_id`;
    for (const row of database.each(sql)) {
      const id = String(row['id']);
      states.set(id, `${states.get(id) ?? ''} ledger ${row['state']}`);
    }
  }
  const repeated = repeatedSessions(database, shapes);
  const members: DatabaseMember[] = [];
  for (const row of database.each(
    `SELECT id, ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions ORDER BY id`,
  )) {
    const member = String(row['id']);
    const facts = SESSION_COLUMNS.map((column) => String(row[column]));
    members.push({
      member,
      state: [...facts, states.get(member) ?? ''].join('|'),
      bytes: bytes.get(member) ?? 0,
      hints: { mayHoldCopies: repeated.has(member) },
    });
  }
  return members;
}

/** Sessions with messages whose ids stand in another session too: copies, or what was copied. */
function repeatedSessions(database: StoreDatabase, shapes: TableShapes): ReadonlySet<string> {
  if (!shapes.has('messages', 'message_id', 'session_id')) return new Set();
  const sql = `SELECT DISTINCT session_id AS id FROM messages WHERE message_id IN
    (SELECT message_id FROM messages GROUP BY message_id HAVING count(DISTINCT session_id) > 1)`;
  return new Set(database.all(sql).map((row) => String(row['id'])));
}

/** The records of one session: the session, its messages in order, its ledger. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const sql = `SELECT id, ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions WHERE id = ?`;
  for (const row of database.each(sql, member)) yield { locator: `sessions/${member}`, value: () => row };
  yield* messages(database, shapes, member, limit);
  if (!shapes.has('usage_ledger', 'session_id')) return;
  const ledger = `SELECT id, ${shapes.select('usage_ledger', ...LEDGER_COLUMNS)} FROM usage_ledger WHERE session_id = ? ORDER BY id`;
  for (const row of database.each(ledger, member)) yield { locator: `usage_ledger/${row['id']}`, value: () => row };
}

function* messages(database: StoreDatabase, shapes: TableShapes, member: string, limit: number): Generator<StoreRow> {
  const metadata = shapes.has('messages', 'metadata_json')
    ? cappedColumn('metadata_json', limit, 'metadata')
    : 'NULL AS metadata';
  const sql = `SELECT id, ${shapes.select('messages', ...MESSAGE_COLUMNS)}, ${cappedColumn('content_json', limit, 'content')}, ${metadata}
    FROM messages WHERE session_id = ? ORDER BY created_timestamp, id`;
  const copies = copiedIds(database, shapes, member);
  for (const row of database.each(sql, member)) {
    const id = row['message_id'] ?? `msg_${member}_${row['id']}`;
    yield {
      locator: `messages/${row['id']}`,
      value: () => ({
        messageId: id,
        role: row['role'],
        created: row['created_timestamp'],
        content: jsonColumn(row, 'content'),
        // Metadata is beside the point where it does not parse: the message still counts.
        metadata: typeof row['metadata'] === 'string' ? parseOrUndefined(row['metadata']) : undefined,
        isCopy: typeof id === 'string' && copies.has(id),
      }),
    };
  }
}

/** Ids of messages that an older session holds too. */
function copiedIds(database: StoreDatabase, shapes: TableShapes, member: string): ReadonlySet<string> {
  if (!shapes.has('messages', 'message_id') || !shapes.has('sessions', 'created_at')) return new Set();
  const sql = `SELECT DISTINCT theirs.message_id AS id FROM messages mine JOIN messages theirs ON theirs.message_id = mine.message_id
    JOIN sessions other ON other.id = theirs.session_id JOIN sessions own ON own.id = mine.session_id
    WHERE mine.session_id = ? AND theirs.session_id <> mine.session_id AND other.created_at < own.created_at`;
  return new Set(database.all(sql, member).map((row) => String(row['id'])));
}

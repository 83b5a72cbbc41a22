/** Sessions and records of the databases. */
import type { SqlRow, StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { parseOrUndefined } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { narrowed, TableShapes } from '../dialects/tables.ts';

export const schema: StoreSchema = {
  product: 'OpenCode',
  layouts: [
    { tables: { session_v2: ['id'], session_message: ['id', 'session_id', 'type', 'time_created', 'data'] } },
    { tables: { session: ['id'], message: ['id', 'session_id', 'data'], part: ['id', 'message_id', 'data'] } },
  ],
  version: { table: 'migration', column: 'id' },
};

/** Tables that hold sessions, the newer layout first. */
const SESSION_TABLES = ['session_v2', 'session'] as const;

/** Session tables that a database has, the newer layout first. */
const sessionTables = (shapes: TableShapes): readonly string[] =>
  SESSION_TABLES.filter((table) => shapes.has(table, 'id'));

/**
 * Sessions with what tells that they changed. The session's own `time_updated` does not move with its messages and parts
 * (writer), so theirs count too, with their number: rows are deleted as well.
 */
export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const states = new Map<string, string[]>();
  const bytes = new Map<string, number>();
  for (const table of ['message', 'part', 'session_message']) {
    if (!shapes.has(table, 'session_id', 'data')) continue;
    const narrow = narrowed(table, {
      id: 'session_id',
      number: 'rowid',
      bytes: 'octet_length(data)',
      updated: shapes.has(table, 'time_updated') ? 'time_updated & 4294967295' : '0',
    });
    // Sums stay exact far beyond any number of rows.
    const sql = `${narrow} SELECT id, count(*) || ':' || sum(updated) || ':' || max(number) AS state, sum(bytes) AS bytes FROM narrow GROUP BY id`;
    for (const row of database.each(sql)) {
      const id = String(row['id']);
      states.set(id, [...(states.get(id) ?? []), `${table} ${row['state']}`]);
      bytes.set(id, (bytes.get(id) ?? 0) + Number(row['bytes'] ?? 0));
    }
  }
  const origins = forkOrigins(database, shapes);
  const members = new Map<string, DatabaseMember>();
  for (const table of sessionTables(shapes)) {
    const columns = shapes.select(table, 'time_updated', 'title', 'directory', 'revert');
    for (const row of database.each(`SELECT id, ${columns} FROM ${table} ORDER BY id`)) {
      const member = String(row['id']);
      if (members.has(member)) continue;
      const facts = [row['time_updated'], row['title'], row['directory'], row['revert']].map(String);
      members.set(member, {
        member,
        state: [...facts, ...(states.get(member) ?? [])].join(' '),
        bytes: bytes.get(member) ?? 0,
        hints: { updated: Number(row['time_updated'] ?? 0), forkOf: origins.get(member) ?? null },
      });
    }
  }
  return [...members.values()];
}

/**
 * Forks of 1.x: nothing names their origin, but a fork holds copies of all messages up to a point with their times, so
 * that it begins at the same millisecond as an older session of the project.
 */
function forkOrigins(database: StoreDatabase, shapes: TableShapes): Map<string, string> {
  const origins = new Map<string, string>();
  if (!shapes.has('session', 'project_id', 'time_created') || !shapes.has('message', 'time_created')) return origins;
  const sql = `SELECT s.id AS id, s.project_id AS project, min(m.time_created) AS first
    FROM session s JOIN message m ON m.session_id = s.id GROUP BY s.id ORDER BY s.time_created, s.id DESC`;
  const oldest = new Map<string, string>();
  for (const row of database.each(sql)) {
    const key = `${row['project']} ${row['first']}`;
    const origin = oldest.get(key);
    if (origin === undefined) oldest.set(key, String(row['id']));
    else origins.set(String(row['id']), origin);
  }
  return origins;
}

/** The records of one session: the session, then its messages in order, each with its parts. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  for (const table of sessionTables(shapes)) {
    for (const row of database.each(`SELECT * FROM ${table} WHERE id = ?`, member)) {
      yield { locator: `${table}/${member}`, value: () => sessionValue(row) };
    }
  }
  yield* newMessages(database, shapes, member, limit);
  yield* messages(database, shapes, member, limit);
}

/** The row in the form of a session file of the tree. */
const sessionValue = (row: SqlRow): unknown => ({
  id: row['id'],
  projectID: row['project_id'],
  parentID: row['parent_id'],
  forkID: row['fork_session_id'],
  directory: row['directory'],
  title: row['title'],
  version: row['version'],
  time: { created: row['time_created'], updated: row['time_updated'] },
  revert: typeof row['revert'] === 'string' ? parseOrUndefined(row['revert']) : undefined,
  agent: row['agent'],
  cost: row['cost'],
  tokens_input: row['tokens_input'],
  tokens_output: row['tokens_output'],
  tokens_reasoning: row['tokens_reasoning'],
  tokens_cache_read: row['tokens_cache_read'],
  tokens_cache_write: row['tokens_cache_write'],
});

/** `session_message` of 2.x. */
function* newMessages(
  database: StoreDatabase,
  shapes: TableShapes,
  member: string,
  limit: number,
): Generator<StoreRow> {
  if (!shapes.has('session_message', 'session_id')) return;
  const order = shapes.has('session_message', 'seq') ? 'seq, id' : 'time_created, id';
  const sql = `SELECT id, type, time_created, ${cappedColumn('data', limit)} FROM session_message WHERE session_id = ? ORDER BY ${order}`;
  for (const row of database.each(sql, member)) {
    yield {
      locator: `session_message/${row['id']}`,
      value: () => ({ id: row['id'], type: row['type'], created: row['time_created'], data: jsonColumn(row, 'data') }),
    };
  }
}

/**
 * `message` and `part` of 1.x. Rows that were imported from the tree carry the time of the import, so the time inside
 * the record orders them.
 */
function* messages(database: StoreDatabase, shapes: TableShapes, member: string, limit: number): Generator<StoreRow> {
  if (!shapes.has('message', 'session_id')) return;
  const withParts = shapes.has('part', 'message_id');
  const sql = `SELECT id, ${shapes.select('message', 'agent_id')}, ${cappedColumn('data', limit)} FROM message WHERE session_id = ?
    ORDER BY CASE WHEN octet_length(data) <= ${limit} AND json_valid(data) THEN json_extract(data, '$.time.created') END, id`;
  const parts = `SELECT id, ${cappedColumn('data', limit)} FROM part WHERE message_id = ? ORDER BY id`;
  for (const row of database.each(sql, member)) {
    const id = String(row['id']);
    yield { locator: `message/${id}`, value: () => jsonColumn(row, 'data') };
    if (!withParts) continue;
    for (const part of database.each(parts, id)) {
      yield { locator: `part/${id}/${part['id']}`, value: () => jsonColumn(part, 'data') };
    }
  }
}

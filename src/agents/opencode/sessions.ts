/** Sessions and records of the databases. */
import type { SqlRow, StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { parseOrUndefined } from '../dialects/json.ts';

/** Tables that hold sessions, the newer layout first. */
const SESSION_TABLES = ['session_v2', 'session'] as const;

interface Tables {
  readonly database: StoreDatabase;
  readonly sessions: readonly string[];
  /** Columns of the table; empty where it is absent. */
  columns(table: string): ReadonlySet<string>;
}

const NO_COLUMNS: ReadonlySet<string> = new Set();

function tablesOf(database: StoreDatabase): Tables {
  const known = new Map<string, ReadonlySet<string>>();
  const columns = (table: string): ReadonlySet<string> => {
    const found = known.get(table) ?? database.columns(table) ?? NO_COLUMNS;
    known.set(table, found);
    return found;
  };
  return { database, columns, sessions: SESSION_TABLES.filter((table) => columns(table).has('id')) };
}

/** Columns that were added over time: null where a database does not have one. */
const optional = (columns: ReadonlySet<string>, ...names: readonly string[]): string =>
  names.map((name) => (columns.has(name) ? name : `NULL AS ${name}`)).join(', ');

/** Sums stay exact far beyond any number of rows. */
const changes = (columns: ReadonlySet<string>): string =>
  columns.has('time_updated')
    ? "count(*) || ':' || sum(time_updated & 4294967295) || ':' || max(rowid)"
    : "count(*) || ':' || max(rowid)";

/**
 * Sessions with what tells that they changed. The session's own `time_updated` does not move with its messages and parts
 * (writer), so theirs count too, with their number: rows are deleted as well.
 */
export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const tables = tablesOf(database);
  const states = new Map<string, string[]>();
  const bytes = new Map<string, number>();
  for (const table of ['message', 'part', 'session_message']) {
    const columns = tables.columns(table);
    if (!columns.has('session_id')) continue;
    const sql = `SELECT session_id AS id, ${changes(columns)} AS state, sum(octet_length(data)) AS bytes FROM ${table} GROUP BY session_id`;
    for (const row of database.each(sql)) {
      const id = String(row['id']);
      states.set(id, [...(states.get(id) ?? []), `${table} ${row['state']}`]);
      bytes.set(id, (bytes.get(id) ?? 0) + Number(row['bytes'] ?? 0));
    }
  }
  const origins = forkOrigins(tables);
  const members = new Map<string, DatabaseMember>();
  for (const table of tables.sessions) {
    const columns = optional(tables.columns(table), 'time_updated', 'title', 'directory', 'revert');
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
function forkOrigins({ database, columns }: Tables): Map<string, string> {
  const origins = new Map<string, string>();
  if (!columns('session').has('project_id') || !columns('session').has('time_created')) return origins;
  if (!columns('message').has('time_created')) return origins;
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
  const tables = tablesOf(database);
  for (const table of tables.sessions) {
    for (const row of database.each(`SELECT * FROM ${table} WHERE id = ?`, member)) {
      yield { locator: `${table}/${member}`, value: () => sessionValue(row) };
    }
  }
  yield* newMessages(tables, member, limit);
  yield* messages(tables, member, limit);
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
function* newMessages({ database, columns }: Tables, member: string, limit: number): Generator<StoreRow> {
  const known = columns('session_message');
  if (!known.has('session_id')) return;
  const order = known.has('seq') ? 'seq, id' : 'time_created, id';
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
function* messages({ database, columns }: Tables, member: string, limit: number): Generator<StoreRow> {
  if (!columns('message').has('session_id')) return;
  const withParts = columns('part').has('message_id');
  const sql = `SELECT id, ${optional(columns('message'), 'agent_id')}, ${cappedColumn('data', limit)} FROM message WHERE session_id = ?
    ORDER BY CASE WHEN json_valid(data) THEN json_extract(data, '$.time.created') END, id`;
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

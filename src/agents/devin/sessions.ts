/** Sessions of the database, and their messages in order. */
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { TableShapes } from '../dialects/tables.ts';

const SESSION_COLUMNS = [
  'working_directory',
  'title',
  'created_at',
  'last_activity_at',
  'main_chain_id',
  'hidden',
  'agent_mode',
] as const;

/** Messages of a session by whose ids its relatives are found: a fork begins with copies. */
const FIRST_NODES = 4;
/** A message above this is not looked into for its id. */
const SEARCHED = 64 * 1024 * 1024;

export const schema: StoreSchema = {
  product: 'Devin',
  layouts: [{ tables: { message_nodes: ['session_id', 'node_id', 'parent_node_id', 'chat_message'] } }],
  version: { table: 'refinery_schema_history', column: 'version' },
};

/** Hints: `older` = sessions that this one may have been forked from, as a JSON list, the oldest first. */
export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const nodes = new Map<string, { count: number; last: number; bytes: number }>();
  // Grouping in SQL would sort messages for the sake of their lengths.
  const sql = 'SELECT session_id AS id, rowid AS number, octet_length(chat_message) AS bytes FROM message_nodes';
  for (const row of database.each(sql)) {
    const id = String(row['id']);
    const before = nodes.get(id) ?? { count: 0, last: 0, bytes: 0 };
    const bytes = before.bytes + Number(row['bytes'] ?? 0);
    nodes.set(id, { count: before.count + 1, last: Math.max(before.last, Number(row['number'])), bytes });
  }
  const sessions = new Map<string, Record<string, unknown>>();
  if (shapes.has('sessions', 'id'))
    for (const row of database.each(`SELECT id, ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions`))
      sessions.set(String(row['id']), row);
  const created = (id: string): number => {
    const value = sessions.get(id)?.['created_at'];
    return typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
  };
  const older = olderRelatives(database, (a, b) => created(a) - created(b) || (a < b ? -1 : 1));
  return [...new Set([...sessions.keys(), ...nodes.keys()])].sort().map((member) => {
    const facts = sessions.get(member);
    const held = nodes.get(member);
    return {
      member,
      state: JSON.stringify([...SESSION_COLUMNS.map((column) => String(facts?.[column] ?? '')), held ?? null]),
      bytes: held?.bytes ?? 0,
      hints: {
        nodes: held?.count ?? 0,
        older: JSON.stringify(older.get(member) ?? []),
        cwd: textOf(facts?.['working_directory']),
        title: textOf(facts?.['title']),
      },
    };
  });
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

/** Sessions with a first message in common, those that were created before a session. */
function olderRelatives(
  database: StoreDatabase,
  order: (a: string, b: string) => number,
): ReadonlyMap<string, readonly string[]> {
  const sql = `WITH narrow AS MATERIALIZED (SELECT rowid AS number, session_id FROM message_nodes),
    first AS (SELECT number FROM (SELECT number, row_number() OVER (PARTITION BY session_id ORDER BY number) AS n FROM narrow) WHERE n <= ${FIRST_NODES})
    SELECT m.session_id AS session, CASE WHEN octet_length(m.chat_message) < ${SEARCHED} AND json_valid(m.chat_message)
      THEN json_extract(m.chat_message, '$.message_id') END AS message
    FROM first CROSS JOIN message_nodes m ON m.rowid = first.number`;
  const holders = new Map<string, Set<string>>();
  for (const { session, message } of database.each(sql)) {
    if (typeof message !== 'string' || message === '' || message.length > 200) continue;
    const found = holders.get(message) ?? new Set();
    holders.set(message, found.add(String(session)));
  }
  const older = new Map<string, Set<string>>();
  for (const sessions of holders.values()) {
    const sorted = [...sessions].sort(order);
    sorted.forEach((session, index) => {
      const found = older.get(session) ?? new Set();
      for (const other of sorted.slice(0, index)) found.add(other);
      older.set(session, found);
    });
  }
  return new Map([...older].map(([session, found]) => [session, [...found].sort(order)]));
}

interface Node {
  readonly row: number;
  readonly parent: unknown;
}

/** The session, then the messages of its live chain, then all others as they were written. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  let tip: unknown = null;
  if (shapes.has('sessions', 'id')) {
    const sql = `SELECT ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions WHERE id = ?`;
    for (const row of database.each(sql, member)) {
      tip = row['main_chain_id'];
      yield { locator: `sessions/${member}`, value: () => row };
    }
  }
  const nodes = new Map<unknown, Node>();
  const sql = `SELECT rowid AS number, node_id, parent_node_id FROM message_nodes WHERE session_id = ? ORDER BY rowid`;
  for (const row of database.each(sql, member))
    nodes.set(row['node_id'], { row: Number(row['number']), parent: row['parent_node_id'] });
  if (tip === null || !nodes.has(tip)) tip = newestReadable(database, member);
  const chain = chainTo(tip, nodes);
  const live = new Set(chain);
  const rest = [...nodes.values()].map(({ row }) => row).filter((row) => !live.has(row));
  const columns = `node_id, parent_node_id, ${shapes.select('message_nodes', 'created_at')}, ${cappedColumn('chat_message', limit)}`;
  for (const number of [...chain, ...rest]) {
    const [row] = database.all(`SELECT ${columns} FROM message_nodes WHERE rowid = ?`, number);
    if (row === undefined) continue;
    yield {
      locator: `message_nodes/${number}`,
      value: () => ({
        node: row['node_id'],
        parent: row['parent_node_id'],
        created: row['created_at'],
        isActive: live.has(number),
        message: jsonColumn(row, 'chat_message'),
      }),
    };
  }
}

/** Row numbers from the root to the tip; a chain that bites its tail, or whose root is gone, ends there. */
function chainTo(tip: unknown, nodes: ReadonlyMap<unknown, Node>): number[] {
  const chain: number[] = [];
  const seen = new Set<unknown>();
  for (let at = tip; !seen.has(at); ) {
    const node = nodes.get(at);
    if (node === undefined) break;
    seen.add(at);
    chain.push(node.row);
    at = node.parent;
  }
  return chain.reverse();
}

/** The greatest number of a node may be of a branch that was given up. */
function newestReadable(database: StoreDatabase, member: string): unknown {
  const sql =
    'SELECT node_id FROM message_nodes WHERE session_id = ? AND json_valid(chat_message) ORDER BY rowid DESC LIMIT 1';
  return database.all(sql, member)[0]?.['node_id'] ?? null;
}

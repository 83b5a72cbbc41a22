/** Sessions and records of the database. */
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { narrowed, TableShapes } from '../dialects/tables.ts';

export const schema: StoreSchema = {
  product: 'ZCode',
  layouts: [{ tables: { session: ['id'], message: ['id', 'session_id', 'data'], part: ['id', 'message_id', 'data'] } }],
};

/** Sessions with what tells that they changed: rows of the ledger come late, and do not touch the session. */
export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const states = new Map<string, string[]>();
  const bytes = new Map<string, number>();
  const ledgers = new Set<string>();
  for (const table of ['message', 'part', 'model_usage']) {
    if (!shapes.has(table, 'session_id')) continue;
    const narrow = narrowed(table, {
      id: 'session_id',
      number: 'rowid',
      bytes: shapes.has(table, 'data') ? 'octet_length(data)' : '0',
      ended: shapes.has(table, 'completed_at') ? 'completed_at' : '0',
    });
    const sql = `${narrow} SELECT id, count(*) || ':' || max(number) || ':' || sum(bytes) || ':' || max(ended) AS state, sum(bytes) AS bytes FROM narrow GROUP BY id`;
    for (const row of database.each(sql)) {
      const id = String(row['id']);
      states.set(id, [...(states.get(id) ?? []), `${table} ${row['state']}`]);
      bytes.set(id, (bytes.get(id) ?? 0) + Number(row['bytes'] ?? 0));
      if (table === 'model_usage') ledgers.add(id);
    }
  }
  const columns = shapes.select('session', 'title', 'directory', 'time_updated');
  return database.all(`SELECT id, ${columns} FROM session ORDER BY id`).map((row) => {
    const member = String(row['id']);
    const facts = [row['title'], row['directory'], row['time_updated']].map(String);
    return {
      member,
      state: [...facts, ...(states.get(member) ?? [])].join(' '),
      bytes: bytes.get(member) ?? 0,
      hints: { hasLedger: ledgers.has(member) },
    };
  });
}

const LEDGER = [
  'id',
  'provider_id',
  'model_id',
  'status',
  'input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'computed_total_tokens',
  'started_at',
  'completed_at',
] as const;

export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const columns = shapes.select(
    'session',
    'project_id',
    'parent_id',
    'directory',
    'title',
    'time_created',
    'time_updated',
  );
  for (const row of database.each(`SELECT id, ${columns} FROM session WHERE id = ?`, member)) {
    const value = {
      id: row['id'],
      projectID: row['project_id'],
      parentID: row['parent_id'],
      directory: row['directory'],
      title: row['title'],
      time: { created: row['time_created'], updated: row['time_updated'] },
    };
    yield { locator: `session/${member}`, value: () => value };
  }
  const order = (table: string): string => (shapes.has(table, 'sequence') ? 'sequence, id' : 'time_created, id');
  const messages = `SELECT id, ${shapes.select('message', 'time_created')}, ${cappedColumn('data', limit)} FROM message WHERE session_id = ? ORDER BY ${order('message')}`;
  const parts = `SELECT id, ${cappedColumn('data', limit)} FROM part WHERE message_id = ? ORDER BY ${order('part')}`;
  for (const row of database.each(messages, member)) {
    const id = String(row['id']);
    yield { locator: `message/${id}`, value: () => timed(jsonColumn(row, 'data'), row['time_created']) };
    for (const part of database.each(parts, id))
      yield { locator: `part/${id}/${part['id']}`, value: () => jsonColumn(part, 'data') };
  }
  if (!shapes.has('model_usage', 'session_id')) return;
  const ledger = `SELECT rowid AS number, ${shapes.select('model_usage', ...LEDGER)} FROM model_usage WHERE session_id = ? ORDER BY rowid`;
  for (const row of database.each(ledger, member))
    yield { locator: `model_usage/${row['id'] ?? row['number']}`, value: () => row };
}

/** A message without a time of its own has that of its row, which older versions write as text. */
function timed(data: unknown, created: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || 'time' in data) return data;
  return {
    ...data,
    time: { created: typeof created === 'string' && /^\d+$/.test(created) ? Number(created) : created },
  };
}

/** Sessions, messages and counters of the database. Columns come with versions: those that are missing are absent. */
import { createHash } from 'node:crypto';
import type { SqlRow, StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { narrowed, TableShapes } from '../dialects/tables.ts';

export const schema: StoreSchema = {
  product: 'Hermes',
  layouts: [{ tables: { sessions: ['id'], messages: ['id', 'session_id', 'role', 'content'] } }],
  version: { table: 'schema_version', column: 'version' },
};

const SESSION_COLUMNS = [
  'source',
  'model',
  'model_config',
  'parent_session_id',
  'started_at',
  'ended_at',
  'end_reason',
  'last_activity_at',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'api_call_count',
  'cwd',
  'git_branch',
  'billing_provider',
  'estimated_cost_usd',
  'actual_cost_usd',
  'title',
  'archived',
  'hidden',
] as const;

const USAGE_COLUMNS = [
  'model',
  'billing_provider',
  'billing_base_url',
  'billing_mode',
  'task',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'api_call_count',
  'estimated_cost_usd',
  'actual_cost_usd',
  'last_seen',
] as const;

/** Columns of a message with text of any length, which may hold NUL and is fetched as bytes. */
const TEXT_COLUMNS = ['content', 'tool_calls', 'reasoning', 'reasoning_content', 'reasoning_details'] as const;

/** `model_config` holds where a session came from, also when the parent's row is gone. */
export interface Origin {
  readonly parent: string | null;
  readonly kind: 'main' | 'subagent' | 'fork';
}

export function originOf(session: SqlRow): Origin {
  const text = session['model_config'];
  const config = (typeof text === 'string' ? asObject(parseOrUndefined(text)) : null) ?? {};
  const branch = nameField(config, '_branched_from');
  const caller = nameField(config, '_delegate_from');
  const parent = nameField(session, 'parent_session_id') ?? branch ?? caller;
  if (caller !== null) return { parent, kind: 'subagent' };
  // After a reset the conversation is a new one.
  const isApart = parent === null || (branch === null && nameField(config, '_reset_from') !== null);
  return { parent, kind: isApart ? 'main' : 'fork' };
}

/** `last_activity_at` alone does not tell: compaction and undoing change old rows, counters come late. */
export function listSessions(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const states = new Map<string, { state: string; bytes: number }>();
  const sum = (...columns: readonly string[]): string =>
    ['0', ...columns.filter((column) => shapes.has('messages', column))].map((c) => `coalesce(${c}, 0)`).join(' + ');
  const lengths = TEXT_COLUMNS.filter((column) => shapes.has('messages', column));
  const narrow = narrowed('messages', {
    session: 'session_id',
    number: 'id',
    states: `(${sum('active')}) * 2 + ${sum('compacted')}`,
    bytes: lengths.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + '),
  });
  const sql = `${narrow} SELECT session AS id, count(*) || ':' || max(number) || ':' || sum(states) || ':' || sum(bytes) AS state,
    sum(bytes) AS bytes FROM narrow GROUP BY session`;
  for (const row of database.each(sql))
    states.set(String(row['id']), { state: String(row['state']), bytes: Number(row['bytes'] ?? 0) });
  const usage = usageStates(database, shapes);
  return database
    .all(`SELECT id, ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions ORDER BY id`)
    .map((row) => {
      const member = String(row['id']);
      const facts = SESSION_COLUMNS.map((column) => String(row[column])).join('|');
      const found = states.get(member);
      return {
        member,
        state: `${facts} ${found?.state ?? ''} ${usage.get(member) ?? ''}`,
        bytes: found?.bytes ?? 0,
        hints: { parent: originOf(row).parent },
      };
    });
}

function usageStates(database: StoreDatabase, shapes: TableShapes): ReadonlyMap<string, string> {
  const counters = USAGE_COLUMNS.filter(
    (column) => column.endsWith('_tokens') && shapes.has('session_model_usage', column),
  );
  if (!shapes.has('session_model_usage', 'session_id') || counters.length === 0) return new Map();
  const sql = `SELECT session_id AS id, count(*) || ':' || ${counters.map((c) => `sum(${c})`).join(" || ':' || ")} AS state FROM session_model_usage GROUP BY session_id`;
  return new Map(database.all(sql).map((row) => [String(row['id']), String(row['state'])]));
}

/** The session, its messages (each once), and what its models and tasks used. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const facts = `SELECT ${shapes.select('sessions', ...SESSION_COLUMNS)} FROM sessions WHERE id = ?`;
  for (const row of database.each(facts, member)) yield { locator: `sessions/${member}`, value: () => row };
  const texts = TEXT_COLUMNS.filter((column) => shapes.has('messages', column));
  const columns = [
    shapes.select('messages', 'role', 'timestamp', 'tool_call_id', 'tool_name', '_compressed_summary', 'display_kind'),
    ...texts.map((column) => bytesColumn(column, limit)),
  ].join(', ');
  for (const { first, kept, rank, digest } of logicalMessages(database, shapes, member, limit)) {
    const [row] = database.all(`SELECT ${columns} FROM messages WHERE id = ?`, kept);
    if (row === undefined) continue;
    yield {
      locator: `messages/${kept}`,
      value: () => ({ ...withTexts(row, texts), id: first, digest, isActive: rank > 0 }),
    };
  }
  if (!shapes.has('session_model_usage', 'session_id', 'task')) return;
  const usage = `SELECT rowid AS number, ${shapes.select('session_model_usage', ...USAGE_COLUMNS)} FROM session_model_usage WHERE session_id = ? ORDER BY rowid`;
  for (const row of database.each(usage, member))
    yield { locator: `session_model_usage/${row['number']}`, value: () => row };
}

const bytesColumn = (column: string, limit: number): string =>
  cappedColumn(column, limit).replace(`THEN ${column} END`, `THEN CAST(${column} AS BLOB) END`);

/** Bytes as text; what was too long stays null beside its length. */
const withTexts = (row: SqlRow, texts: readonly string[]): Record<string, unknown> => ({
  ...row,
  ...Object.fromEntries(
    texts.map((column) => {
      const value = row[column];
      return [column, value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : null];
    }),
  ),
});

interface Logical {
  /** Number of its first row: its place, and its identity. */
  readonly first: number;
  kept: number;
  /** Of the row that is kept: 2 = live, 1 = archived by a compaction, 0 = undone. */
  rank: number;
  readonly digest: string;
}

/**
 * Compaction writes the last messages again under new numbers, with all else the same. One row of a message stands for
 * it: the live one, else the newest that was archived, else the newest.
 */
function logicalMessages(
  database: StoreDatabase,
  shapes: TableShapes,
  member: string,
  limit: number,
): Iterable<Logical> {
  const text = (column: (typeof TEXT_COLUMNS)[number]): string =>
    shapes.has('messages', column) ? bytesColumn(column, limit) : `NULL AS ${column}, NULL AS ${column}_bytes`;
  const sql = `SELECT id, ${shapes.select('messages', 'role', 'timestamp', 'tool_call_id', 'tool_name', 'active', 'compacted')},
    ${text('content')}, ${text('tool_calls')} FROM messages WHERE session_id = ? ORDER BY id`;
  const found = new Map<string, Logical>();
  for (const row of database.each(sql, member)) {
    const number = Number(row['id']);
    const rank = row['active'] === null || row['active'] !== 0 ? 2 : row['compacted'] === 1 ? 1 : 0;
    const digest = digestOf(row);
    const before = found.get(digest);
    if (before === undefined) found.set(digest, { first: number, kept: number, rank, digest });
    else if (rank >= before.rank) {
      before.kept = number;
      before.rank = rank;
    }
  }
  return found.values();
}

function digestOf(row: SqlRow): string {
  const hash = createHash('sha1');
  hash.update(JSON.stringify([row['role'], String(row['timestamp']), row['tool_call_id'], row['tool_name']]));
  for (const column of ['content', 'tool_calls']) {
    const value = row[column];
    hash.update(`\0${row[`${column}_bytes`] ?? 'none'}\0`);
    if (value instanceof Uint8Array) hash.update(value);
    // Too long to be fetched: a message of its own.
    else if (row[`${column}_bytes`] !== null) hash.update(String(row['id']));
  }
  return hash.digest('hex');
}

/** Conversations and messages of the database, which holds keys and accounts too: nothing else of it is read. */
import type { StoreDatabase } from '../../framing/database.ts';
import { cappedColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { narrowed, type RowState, rowStates, TableShapes } from '../dialects/tables.ts';

export const schema: StoreSchema = {
  product: 'Shelley',
  layouts: [
    {
      tables: {
        conversations: ['conversation_id'],
        messages: ['message_id', 'conversation_id', 'type', 'llm_data'],
        migrations: [],
      },
    },
  ],
};

const CONVERSATION_COLUMNS = [
  'slug',
  'cwd',
  'parent_conversation_id',
  'archived',
  'current_generation',
  'is_draft',
  'created_at',
  'updated_at',
] as const;

const MESSAGE_COLUMNS = [
  'message_id',
  'sequence_id',
  'type',
  'created_at',
  'generation',
  'model_name',
  'forked_from_message_id',
] as const;

/** Columns with JSON; those that came later are absent in older databases. */
const JSON_COLUMNS = ['llm_data', 'user_data', 'usage_data', 'other_usage_data'] as const;

export function listConversations(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const states = messageStates(database, shapes);
  const origins = originsOfForks(database, shapes);
  const sql = `SELECT conversation_id AS id, ${shapes.select('conversations', ...CONVERSATION_COLUMNS)} FROM conversations ORDER BY 1`;
  const members: DatabaseMember[] = [];
  for (const row of database.each(sql)) {
    const member = String(row['id']);
    const found = states.get(member);
    // What was begun to be typed, and never sent.
    if (found === undefined && row['is_draft'] === 1) continue;
    members.push({
      member,
      state: `${CONVERSATION_COLUMNS.map((column) => String(row[column])).join('|')} ${found?.state ?? ''}`,
      bytes: found?.bytes ?? 0,
      hints: { forkOf: origins.get(member) ?? null },
    });
  }
  return members;
}

function messageStates(database: StoreDatabase, shapes: TableShapes): ReadonlyMap<string, RowState> {
  const present = JSON_COLUMNS.filter((column) => shapes.has('messages', column));
  const narrow = narrowed('messages', {
    id: 'conversation_id',
    number: 'rowid',
    bytes: present.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + '),
  });
  const sql = `${narrow} SELECT id, count(*) || ':' || max(number) || ':' || sum(bytes) AS state, sum(bytes) AS bytes FROM narrow GROUP BY id`;
  return rowStates(database, sql);
}

/** A fork is known by its messages: they name those that they were copied from. */
function originsOfForks(database: StoreDatabase, shapes: TableShapes): ReadonlyMap<string, string> {
  const origins = new Map<string, string>();
  if (!shapes.has('messages', 'forked_from_message_id')) return origins;
  const sql = `SELECT DISTINCT mine.conversation_id AS fork, theirs.conversation_id AS origin
    FROM messages mine JOIN messages theirs ON theirs.message_id = mine.forked_from_message_id
    WHERE mine.forked_from_message_id IS NOT NULL AND theirs.conversation_id <> mine.conversation_id ORDER BY 1, 2`;
  for (const row of database.each(sql)) {
    const fork = String(row['fork']);
    if (!origins.has(fork)) origins.set(fork, String(row['origin']));
  }
  return origins;
}

/** The conversation, then its messages; times may tie or run backwards. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  const facts = `SELECT ${shapes.select('conversations', ...CONVERSATION_COLUMNS)} FROM conversations WHERE conversation_id = ?`;
  for (const row of database.each(facts, member)) yield { locator: `conversations/${member}`, value: () => row };
  const json = JSON_COLUMNS.map((column) =>
    shapes.has('messages', column) ? cappedColumn(column, limit) : `NULL AS ${column}`,
  ).join(', ');
  const order = shapes.has('messages', 'sequence_id') ? 'sequence_id, message_id' : 'created_at, rowid';
  const sql = `SELECT ${shapes.select('messages', ...MESSAGE_COLUMNS)}, ${json}, ${repeatsEarlier(shapes)} AS is_repeat
    FROM messages m WHERE conversation_id = ? ORDER BY ${order}`;
  for (const row of database.each(sql, member)) yield { locator: `messages/${row['message_id']}`, value: () => row };
}

/** Compaction writes the last messages again, under new ids, for the generation that follows. */
function repeatsEarlier(shapes: TableShapes): string {
  if (!shapes.has('messages', 'generation', 'user_data')) return '0';
  return `CASE WHEN instr(m.user_data, '"compaction_carried"') > 0 THEN EXISTS (SELECT 1 FROM messages e
    WHERE e.conversation_id = m.conversation_id AND e.generation < m.generation AND e.type = m.type AND e.llm_data IS m.llm_data)
    ELSE 0 END`;
}

/** Conversations of the database, which holds the terminal's history too: that is not read. */
import { createHash } from 'node:crypto';
import type { SqlRow, StoreDatabase } from '../../framing/database.ts';
import { ScopedError } from '../../framing/errors.ts';
import { cappedColumn, jsonColumn, type StoreRow } from '../../framing/row-frames.ts';
import type { DatabaseMember } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { type RowState, rowStates, TableShapes } from '../dialects/tables.ts';
import { firstMessageId, readTask, type Task } from './task.ts';

const CONVERSATIONS = 'agent_conversations';
const TASKS = 'agent_tasks';
const QUERIES = 'ai_queries';

const prompts = { [QUERIES]: ['conversation_id', 'start_ts', 'input'] };
export const schema: StoreSchema = {
  product: 'Warp',
  layouts: [
    {
      tables: {
        [CONVERSATIONS]: ['id', 'conversation_id', 'conversation_data'],
        [TASKS]: ['conversation_id', 'task'],
        ...prompts,
      },
      signs: [CONVERSATIONS, TASKS],
    },
    { tables: prompts },
  ],
};

/** A task above this is not looked into for its relatives. */
const SEARCHED = 64 * 1024 * 1024;

interface Tasks {
  readonly hash: ReturnType<typeof createHash>;
  bytes: number;
  /** Ids of the first messages of its tasks. */
  readonly first: Set<string>;
}

/** Hints: `older` = conversations that this one may hold copies of, as a JSON list. */
export function listConversations(database: StoreDatabase): DatabaseMember[] {
  const shapes = new TableShapes(database);
  const hasConversations = shapes.has(CONVERSATIONS, 'id', 'conversation_id');
  const tasks = hasConversations ? readTasks(database, shapes) : new Map<string, Tasks>();
  const queries = queryStates(database, shapes);
  const summary = shapes.has(CONVERSATIONS, 'summary') ? 'octet_length(summary)' : 'NULL';
  const sql = hasConversations
    ? `SELECT conversation_id AS id, ${shapes.select(CONVERSATIONS, 'last_modified_at')}, octet_length(conversation_data) AS data, ${summary} AS summary
        FROM ${CONVERSATIONS} ORDER BY ${CONVERSATIONS}.id`
    : `SELECT DISTINCT conversation_id AS id, NULL AS last_modified_at, NULL AS data, NULL AS summary FROM ${QUERIES} ORDER BY 1`;
  /** Conversations by the first messages of their tasks, in the order in which they were made. */
  const holders = new Map<string, string[]>();
  return database.all(sql).map((row) => {
    const member = String(row['id']);
    const own = tasks.get(member);
    const older = new Set<string>();
    for (const message of own?.first ?? []) {
      const before = holders.get(message) ?? [];
      for (const other of before) older.add(other);
      holders.set(message, [...before, member]);
    }
    const prompts = own === undefined ? queries.get(member) : undefined;
    const facts = ['last_modified_at', 'data', 'summary'].map((column) => String(row[column]));
    return {
      member,
      state: [...facts, own?.hash.digest('hex') ?? '', prompts?.state ?? ''].join(' '),
      bytes: own?.bytes ?? prompts?.bytes ?? 0,
      hints: { older: JSON.stringify([...older]) },
    };
  });
}

/** Times of rows have a second's resolution: contents are looked at too. */
function readTasks(database: StoreDatabase, shapes: TableShapes): Map<string, Tasks> {
  const found = new Map<string, Tasks>();
  if (!shapes.has(TASKS, 'conversation_id', 'task')) return found;
  const sql = `SELECT conversation_id AS id, ${cappedColumn('task', SEARCHED)} FROM ${TASKS} ORDER BY rowid`;
  for (const row of database.each(sql)) {
    const id = String(row['id']);
    const own = found.get(id) ?? { hash: createHash('sha1'), bytes: 0, first: new Set<string>() };
    found.set(id, own);
    const bytes = Number(row['task_bytes'] ?? 0);
    own.bytes += bytes;
    own.hash.update(`${bytes} `);
    if (!(row['task'] instanceof Uint8Array)) continue;
    own.hash.update(row['task']);
    const first = firstOf(row['task']);
    if (first !== null) own.first.add(first);
  }
  return found;
}

function firstOf(task: Uint8Array): string | null {
  try {
    return firstMessageId(Buffer.from(task));
  } catch (error) {
    // The reading of the conversation itself says so.
    if (error instanceof ScopedError) return null;
    throw error;
  }
}

function queryStates(database: StoreDatabase, shapes: TableShapes): ReadonlyMap<string, RowState> {
  if (!shapes.has(QUERIES, 'conversation_id', 'input')) return new Map();
  const sql = `SELECT conversation_id AS id, count(*) || ':' || max(rowid) || ':' || sum(octet_length(input)) AS state,
    sum(octet_length(input)) AS bytes FROM ${QUERIES} GROUP BY conversation_id`;
  return rowStates(database, sql);
}

/** The conversation, then its tasks with their messages; of one without tasks, its prompts. */
export function* queryRows(database: StoreDatabase, member: string, limit: number): Generator<StoreRow> {
  const shapes = new TableShapes(database);
  if (shapes.has(CONVERSATIONS, 'conversation_id')) yield* facts(database, shapes, member);
  let hasTasks = false;
  if (shapes.has(TASKS, 'conversation_id', 'task')) {
    const sql = `SELECT rowid AS number, ${cappedColumn('task', limit)} FROM ${TASKS} WHERE conversation_id = ? ORDER BY rowid`;
    for (const row of database.each(sql, member)) {
      hasTasks = true;
      yield* taskRows(row);
    }
  }
  if (hasTasks || !shapes.has(QUERIES, 'conversation_id', 'input')) return;
  const columns = shapes.select(QUERIES, 'exchange_id', 'start_ts', 'working_directory');
  const sql = `SELECT rowid AS number, ${columns}, ${cappedColumn('input', limit)} FROM ${QUERIES} WHERE conversation_id = ? ORDER BY start_ts, rowid`;
  for (const row of database.each(sql, member)) {
    const { number, exchange_id: id, start_ts: time, working_directory: folder } = row;
    yield { locator: `${QUERIES}/${number}`, value: () => ({ id, time, folder, input: jsonColumn(row, 'input') }) };
  }
}

/** Named members only: the rest of a conversation's data is for the vendor's server. */
function* facts(database: StoreDatabase, shapes: TableShapes, member: string): Generator<StoreRow> {
  const of = (column: string, path: string): string =>
    shapes.has(CONVERSATIONS, column)
      ? `CASE WHEN json_valid(${column}) THEN json_extract(${column}, '${path}') END`
      : 'NULL';
  const sql = `SELECT ${of('conversation_data', '$.parent_conversation_id')} AS parent,
    ${of('conversation_data', '$.conversation_usage_metadata.token_usage')} AS tokens,
    ${of('conversation_data', '$.conversation_usage_metadata.credits_spent')} AS credits,
    ${of('conversation_data', '$.forked_from_server_conversation_token')} IS NOT NULL AS isFork,
    ${of('summary', '$.title')} AS title,
    ${of('summary', '$.initial_working_directory')} AS folder,
    ${shapes.has(CONVERSATIONS, 'conversation_data') ? 'coalesce(json_valid(conversation_data), 1)' : '1'} AS isValid
    FROM ${CONVERSATIONS} WHERE conversation_id = ?`;
  for (const row of database.each(sql, member)) yield { locator: `${CONVERSATIONS}/${member}`, value: () => row };
}

function* taskRows(row: SqlRow): Generator<StoreRow> {
  const locator = `${TASKS}/${row['number']}`;
  const bytes = row['task'];
  let task: Task;
  try {
    if (!(bytes instanceof Uint8Array)) {
      const length = row['task_bytes'];
      throw typeof length === 'number' && bytes === null
        ? new ScopedError('record', 'record_too_long', `task has ${length} bytes, over --max-line; raise it to read it`)
        : new ScopedError('record', 'wrong_type', 'task holds no bytes');
    }
    task = readTask(Buffer.from(bytes));
  } catch (error) {
    if (!(error instanceof ScopedError)) throw error;
    yield {
      locator,
      value: () => {
        throw error;
      },
    };
    return;
  }
  const { messages, description, parent } = task;
  yield { locator, value: () => ({ description, parent, count: messages.length }) };
  for (const [index, message] of messages.entries())
    yield { locator: `${locator}/messages/${index}`, value: () => ({ ...message, parent }) };
}

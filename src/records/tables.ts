/**
 * The canonical tables: THE declaration from which TypeScript types, zod schemas, NDJSON key order, Parquet and Arrow
 * schemas, JSON Schema, SQL DDL and docs are derived. Nothing about a column is said anywhere else.
 */

/**
 * What a column holds, and how its values travel in a row object.
 *
 * - `key`: short text of few distinct values (agent, model); string. Dictionary-encoded in files.
 * - `id`: short text of many distinct values; string.
 * - `text`: text of any length; string, or its UTF-8 bytes as a `Uint8Array` when it is only passed on.
 * - `json`: JSON text of any length, as recorded; carried like `text`, stored as a string column.
 * - `int`: count, safe integer in a number; INT64 in files.
 * - `float`: number; DOUBLE in files.
 * - `bool`: boolean.
 * - `timestamp`: number of milliseconds since 1970 UTC (fractions down to 1 µs); ISO-8601 with ms and Z in NDJSON.
 * - `list`: array of short strings.
 * - `bytes`: `Uint8Array`; a string in NDJSON, base64 where it is no UTF-8.
 */
export type ColumnType = 'key' | 'id' | 'text' | 'json' | 'int' | 'float' | 'bool' | 'timestamp' | 'list' | 'bytes';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** One sentence for `sessionlake schema` and the docs: meaning, unit, when it is null. */
  readonly doc: string;
}

export interface Table {
  /** Plural: the folder's and the view's name. */
  readonly name: string;
  /** Singular: the value of `record` in NDJSON. */
  readonly record: string;
  readonly optIn: boolean;
  readonly doc: string;
  readonly columns: readonly Column[];
}

const col = <const N extends string, const T extends ColumnType>(name: N, type: T, doc: string) =>
  ({ name, type, nullable: true, doc }) as const;
const req = <const N extends string, const T extends ColumnType>(name: N, type: T, doc: string) =>
  ({ name, type, nullable: false, doc }) as const;

const position = [
  col('ordinal', 'int', '0-based number of the record in its source.'),
  col('byte_start', 'int', 'First byte of the record in its source (decompressed); null where not byte-addressed.'),
  col('byte_end', 'int', 'One past the last byte of the record, its line end excluded; null where not byte-addressed.'),
] as const;

const version = [
  req('generation', 'int', 'Rises by 1 when a source is read again by a newer decoder.'),
  req(
    'revision',
    'int',
    'Rises by 1 when the same event is told again with other contents; the greatest (generation, revision) counts.',
  ),
] as const;

/** Columns of every event row, in this order. */
const event = [
  req('agent', 'key', 'Slug of the agent that wrote the store.'),
  col('session_id', 'id', 'Native id of the session.'),
  req('source_id', 'id', 'Stable hash of host, agent and source location.'),
  req('event_id', 'id', 'Stable hash of agent, session, native record id and slot: the key of the row.'),
  ...position,
  col('locator', 'id', 'JSON Pointer or table/row key; null where the record is byte-addressed.'),
  col('timestamp', 'timestamp', 'When, as recorded; null where the store does not say.'),
  col('timestamp_text', 'id', 'The native spelling of the time.'),
  ...version,
] as const;

const isCopy = req('is_copy', 'bool', 'History replayed from another session, where that can be proved.');

export const sessions = {
  name: 'sessions',
  record: 'session',
  optIn: false,
  doc: 'One row a session. The row with the greatest (generation, revision) of an (agent, session_id) counts.',
  columns: [
    req('agent', 'key', 'Slug of the agent that wrote the store.'),
    req('session_id', 'id', 'Native id of the session.'),
    req('source_id', 'id', 'Source of the session (the first one, where it has several).'),
    req('source_path', 'id', 'Path of that source.'),
    req('host', 'key', 'Name of the machine the store belongs to.'),
    col('parent_session_id', 'id', 'Session that this one was forked, resumed or spawned from.'),
    col('kind', 'key', 'main, subagent or fork.'),
    col('origin', 'key', 'How it was started: cli, ide, exec, sdk … as recorded.'),
    col('title', 'text', 'Title held by the store.'),
    col('cwd', 'id', 'Working directory as recorded.'),
    col('git_branch', 'key', 'Git branch as recorded.'),
    col('git_commit', 'id', 'Git commit as recorded.'),
    col('agent_version', 'key', 'Version of the agent as recorded.'),
    col('model', 'key', 'The last model that answered.'),
    req('models', 'list', 'All models that answered, in order of first answer.'),
    col('started_at', 'timestamp', 'Earliest time on an own record.'),
    col('ended_at', 'timestamp', 'Latest time on an own record.'),
    req('message_count', 'int', 'Own messages with text or thinking.'),
    req('user_message_count', 'int', 'Own messages that a person typed.'),
    req('tool_call_count', 'int', 'Own tool calls.'),
    col('reported_input_tokens', 'int', 'Session counter kept by the agent; never part of the ledger.'),
    col('reported_output_tokens', 'int', 'Session counter kept by the agent; never part of the ledger.'),
    col('reported_cache_read_tokens', 'int', 'Session counter kept by the agent; never part of the ledger.'),
    col('reported_cache_write_tokens', 'int', 'Session counter kept by the agent; never part of the ledger.'),
    col('reported_reasoning_tokens', 'int', 'Session counter kept by the agent; never part of the ledger.'),
    col('reported_total_tokens', 'int', 'Session counter kept by the agent; never part of the ledger.'),
    col('reported_cost_usd', 'float', 'Cost in US dollars kept by the agent for the session.'),
    col('usage_state', 'key', 'per_reply, session_total or not_recorded.'),
    col('resume_command', 'text', 'Shell command that takes the session up again; null where it cannot be.'),
    col('extra', 'json', 'Further facts as a JSON object.'),
    ...version,
  ],
} as const satisfies Table;

export const messages = {
  name: 'messages',
  record: 'message',
  optIn: false,
  doc: 'What was said: one row a reply or prompt, its blocks joined.',
  columns: [
    ...event,
    isCopy,
    col('message_id', 'id', "The provider's id of the message."),
    col('record_id', 'id', "The store's id of the record."),
    col('parent_record_id', 'id', 'record_id of the record this one follows.'),
    col('role', 'key', "user, assistant, system or tool; null only where kind is 'withdrawn'."),
    col('author', 'key', 'Named author, where the store has one.'),
    col(
      'kind',
      'key',
      "The store's kind of the message; 'withdrawn' on the revision that says the store no longer holds it.",
    ),
    col('model', 'key', 'Model that answered.'),
    col('text', 'text', 'Text blocks joined by a line feed.'),
    col('thinking', 'text', 'Thinking blocks joined by a line feed.'),
    req('is_meta', 'bool', 'Injected: nobody typed it.'),
    req('is_active', 'bool', 'On the live branch of the session.'),
    req('content_kinds', 'list', 'Kinds of the content blocks (text, image, …), each once.'),
  ],
} as const satisfies Table;

export const toolCalls = {
  name: 'tool_calls',
  record: 'tool_call',
  optIn: false,
  doc: 'Tool calls as the model made them.',
  columns: [
    ...event,
    isCopy,
    col('message_id', 'id', "The provider's id of the message that holds the call."),
    col('call_id', 'id', 'Id that the result refers to.'),
    col('name', 'key', 'Name of the tool, or of the skill where kind is skill.'),
    req('kind', 'key', 'function, custom, server, shell, mcp, skill or agent.'),
    col('arguments', 'json', 'Arguments exactly as recorded; a string that is no JSON stays as it is.'),
  ],
} as const satisfies Table;

export const toolResults = {
  name: 'tool_results',
  record: 'tool_result',
  optIn: false,
  doc: 'What tools gave back.',
  columns: [
    ...event,
    isCopy,
    col('call_id', 'id', 'Id of the call.'),
    col('is_error', 'bool', 'Whether the call failed; null where the store does not say.'),
    col('output', 'text', 'Text of the result.'),
    col('output_json', 'json', 'Structured result as JSON text.'),
  ],
} as const satisfies Table;

/** Native counters of one API reply, in the order of the columns. */
const counters = [
  col('input_tokens', 'int', 'Native input counter.'),
  col('output_tokens', 'int', 'Native output counter.'),
  col('cache_read_tokens', 'int', 'Native counter of input read from cache.'),
  col('cache_write_tokens', 'int', 'Native counter of input written to cache.'),
  col('cache_write_1h_tokens', 'int', 'Native counter of input written to the one-hour cache.'),
  col('reasoning_tokens', 'int', 'Native counter of reasoning output.'),
  col('total_tokens', 'int', 'Native total.'),
] as const;

export const usage = {
  name: 'usage',
  record: 'usage',
  optIn: false,
  doc: 'The usage ledger: postings, appended and never replaced. Plain SUM(counted_*) is right.',
  columns: [
    ...event,
    col('message_id', 'id', "The provider's id of the reply."),
    col('request_id', 'id', "The provider's id of the request."),
    col('model', 'key', 'Model that answered.'),
    col('provider', 'key', 'Provider as recorded.'),
    req('usage_key', 'id', 'Identifies one API reply over all sources.'),
    ...counters,
    col('input_includes_cache_read', 'bool', 'Whether input_tokens contains cache_read_tokens; null = not known.'),
    col('input_includes_cache_write', 'bool', 'Whether input_tokens contains cache_write_tokens; null = not known.'),
    col('output_includes_reasoning', 'bool', 'Whether output_tokens contains reasoning_tokens; null = not known.'),
    req(
      'basis',
      'key',
      'native, last_sample, cumulative_delta, session_total, or reversal where a posting takes back.',
    ),
    req('adjustments', 'list', 'What was mended in the counters, by name.'),
    col('reported_cost_usd', 'float', 'Cost in US dollars as recorded.'),
    col('service_tier', 'key', 'Service tier as recorded.'),
    req('state', 'key', 'final, partial or unknown.'),
    col('counted_input_tokens', 'int', 'Adds to the ledger: uncached input.'),
    col('counted_output_tokens', 'int', 'Adds to the ledger: output, reasoning included.'),
    col('counted_cache_read_tokens', 'int', 'Adds to the ledger: input read from cache.'),
    col('counted_cache_write_tokens', 'int', 'Adds to the ledger: input written to cache.'),
    col('counted_cache_write_1h_tokens', 'int', 'Subset of counted_cache_write_tokens: one-hour cache.'),
    col('counted_reasoning_tokens', 'int', 'Subset of counted_output_tokens: reasoning.'),
  ],
} as const satisfies Table;

export const sources = {
  name: 'sources',
  record: 'source',
  optIn: false,
  doc: 'What was read, how it ended and what was met: one row a source and batch.',
  columns: [
    req('agent', 'key', 'Slug of the agent that wrote the store.'),
    req('source_id', 'id', 'Stable hash of host, agent and source location.'),
    req('source_path', 'id', 'Path of the source.'),
    req('host', 'key', 'Name of the machine the store belongs to.'),
    req('store_kind', 'key', "Which of the agent's layouts this is."),
    col('size', 'int', 'Size in bytes when it was read.'),
    col('mtime', 'timestamp', 'Modification time when it was read.'),
    req('status', 'key', 'complete, incomplete_tail, complete_with_errors, stopped_early, failed or unsupported.'),
    req('generation', 'int', 'Generation of the rows.'),
    req('records', 'int', 'Records framed.'),
    req('line_errors', 'int', 'Records that could not be read.'),
    req('ignored_types', 'json', 'Known record types that carry no rows, with counts.'),
    req('unknown_types', 'json', 'Record types that are not known, with counts.'),
    col('last_complete_byte', 'int', 'One past the last complete record and its line end.'),
    req('session_rows', 'int', 'Rows written to sessions.'),
    req('message_rows', 'int', 'Rows written to messages.'),
    req('tool_call_rows', 'int', 'Rows written to tool_calls.'),
    req('tool_result_rows', 'int', 'Rows written to tool_results.'),
    req('usage_rows', 'int', 'Usage observations seen.'),
    req('decoder_version', 'int', 'Version of the decoder.'),
    col('batch_id', 'id', 'Batch that wrote the rows.'),
    col('ingested_at', 'timestamp', 'When the batch ran.'),
  ],
} as const satisfies Table;

export const issues = {
  name: 'issues',
  record: 'issue',
  optIn: false,
  doc: 'What could not be read, and why. Never holds content.',
  columns: [
    req('agent', 'key', 'Slug of the agent that wrote the store.'),
    req('source_id', 'id', 'Stable hash of host, agent and source location.'),
    req('severity', 'key', 'error, warning or info.'),
    req('code', 'key', 'Kind of the issue, stable.'),
    req('message', 'text', 'One sentence for a person; no content of the store.'),
    ...position,
  ],
} as const satisfies Table;

export const raw = {
  name: 'raw',
  record: 'raw',
  optIn: true,
  doc: 'Exact record bytes, neither parsed nor checked.',
  columns: [
    req('agent', 'key', 'Slug of the agent that wrote the store.'),
    req('source_id', 'id', 'Stable hash of host, agent and source location.'),
    ...position,
    req('record', 'bytes', 'The bytes of the record, its delimiter excluded.'),
    req('delimiter', 'bytes', 'The bytes that end the record; empty at a torn tail.'),
  ],
} as const satisfies Table;

export const history = {
  name: 'history',
  record: 'history',
  optIn: true,
  doc: "The agents' prompt history: entries, not sessions.",
  columns: [
    req('agent', 'key', 'Slug of the agent that wrote the store.'),
    req('source_id', 'id', 'Stable hash of host, agent and source location.'),
    req('ordinal', 'int', '0-based number of the record in its source.'),
    col('session_id', 'id', 'Session the prompt belongs to, where recorded.'),
    col('text', 'text', 'The prompt.'),
    col('timestamp', 'timestamp', 'When, as recorded.'),
    col('timestamp_native', 'int', 'The number as recorded.'),
    col('unit', 'key', 'Unit of timestamp_native: s, ms or us.'),
    col('cwd', 'id', 'Project folder, where recorded.'),
  ],
} as const satisfies Table;

/** All tables, in the order in which they are documented and written. */
export const tables = {
  sessions,
  messages,
  tool_calls: toolCalls,
  tool_results: toolResults,
  usage,
  sources,
  issues,
  raw,
  history,
} as const;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as TableName[];
export const defaultTables: readonly TableName[] = tableNames.filter((name) => !tables[name].optIn);

interface ValueOf {
  key: string;
  id: string;
  text: string | Uint8Array;
  json: string | Uint8Array;
  int: number;
  float: number;
  bool: boolean;
  timestamp: number;
  list: readonly string[];
  bytes: Uint8Array;
}

/** A text value in a row: a string, or UTF-8 bytes that are only passed on. */
export type Text = ValueOf['text'];

type CellOf<C extends Column> = C['nullable'] extends true ? ValueOf[C['type']] | null : ValueOf[C['type']];
type RowOfColumns<C extends readonly Column[]> = { -readonly [K in C[number] as K['name']]: CellOf<K> };

/** The row type of a table, derived from its columns. */
export type RowOf<T extends Table> = RowOfColumns<T['columns']>;
export type Rows = { [N in TableName]: RowOf<(typeof tables)[N]> };

export type SessionRow = Rows['sessions'];
export type MessageRow = Rows['messages'];
export type ToolCallRow = Rows['tool_calls'];
export type ToolResultRow = Rows['tool_results'];
export type UsageRow = Rows['usage'];
export type SourceRow = Rows['sources'];
export type IssueRow = Rows['issues'];
export type RawRow = Rows['raw'];
export type HistoryRow = Rows['history'];

/** Columns that every event row has; the decoding layer fills them. */
export type EventColumns = RowOfColumns<typeof event>;

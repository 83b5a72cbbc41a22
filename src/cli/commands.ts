/** What commands there are, and what their help says. */
import { Option } from 'commander';
import type { OptionsInput } from '../options.ts';

export type Action = (options: OptionsInput, argument: string | undefined) => Promise<number>;

export interface CommandSpec {
  /** Two words: a command of a group. */
  readonly name: string;
  readonly summary: string;
  readonly example: string;
  readonly argument?: string;
  readonly options: readonly OptionName[];
  /** Where an option means something else here than elsewhere. */
  readonly texts?: Readonly<Partial<Record<OptionName, string>>>;
  readonly extra?: readonly Option[];
  /** Loaded when the command runs, so that `--help` stays fast. */
  readonly load: () => Promise<Action>;
}

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** Flags and help of all options; what their values may be is said in `options.ts`. */
const flags = {
  agent: ['--agent <names>', 'only these agents, comma-separated; aliases are known (default: all)'],
  root: [
    '--root <agent=PATH>',
    "read this folder (or one file); may be repeated (default: the agent's own places)",
    'repeat',
  ],
  exclude: [
    '--exclude <path>',
    'pass by this path and all below it; may be repeated (default: SESSIONLAKE_EXCLUDE_PATHS)',
    'repeat',
  ],
  since: ['--since <time>', 'only rows from this time on: a UTC day or ISO-8601 (default: the first)'],
  until: ['--until <time>', 'only rows before this time (default: to the last)'],
  tables: ['--tables <names>', 'only these tables, comma-separated (default: all but raw and history)'],
  gate: ['--gate <gate>', 'strict: a source with a bad record is held back; quarantine (default): only the record'],
  threads: ['--threads <n>', 'worker threads, 1 to 64 (default: one a processor, at most 8; none for little work)'],
  'max-line': ['--max-line <bytes>', 'a longer line becomes an issue (default: 64MiB)'],
  'max-file': ['--max-file <bytes>', 'a larger source fails (default: no limit)'],
  'stop-at-byte': [
    '--stop-at-byte <n>',
    'read the one file that is named up to this byte; a shorter one fails (default: to its end)',
  ],
  tail: ['--tail <how>', 'tolerant (default): an unterminated last line is still being written; strict: an error'],
  accounting: [
    '--accounting <policy>',
    'strict (default): impossible counters are not counted; statistics: they are mended, visibly',
  ],
  rewrite: [
    '--rewrite <FROM=TO>',
    'workspace paths of a store copied from elsewhere; may be repeated (default: none)',
    'repeat',
  ],
  host: [
    '--host <name>',
    'name of the machine the stores belong to (default: SESSIONLAKE_HOST, or the name of this one)',
  ],
  quiet: ['--quiet', 'no progress, and a summary only where something is held back'],
  json: ['--json', 'for programs: one JSON object on standard output'],
  out: ['--out <dir>', 'folder of the lake (required)'],
  format: ['--format <format>', 'parquet (default), arrow or ndjson'],
  'parquet-engine': ['--parquet-engine <name>', 'hyparquet-writer (default) or parquetjs-lite'],
  partition: ['--partition <by>', 'Hive folders by agent or day (default: none)'],
  cursor: ['--cursor <file>', 'keep what was read in this file, and tell only what is new since (default: tell all)'],
  'time-zone': ['--time-zone <zone>', "IANA zone of the days (default: the system's)"],
  'sources-from': [
    '--sources-from <file>',
    'only the source paths listed in this file, one a line; - is standard input (default: all)',
  ],
} as const satisfies Record<string, readonly [string, string, 'repeat'?]>;

type OptionName = keyof typeof flags;

/** An option of a command, with its help. */
export function optionOf(name: OptionName, text?: string): Option {
  const [flag, usual, repeat] = flags[name] as readonly [string, string, 'repeat'?];
  const option = new Option(flag, text ?? usual);
  return repeat === 'repeat' ? option.argParser(collect) : option;
}

const reading = [
  'agent',
  'root',
  'exclude',
  'host',
  'sources-from',
  'max-line',
  'max-file',
  'stop-at-byte',
  'tail',
  'threads',
  'quiet',
] as const;
const rows = [...reading, 'since', 'until', 'tables', 'gate', 'accounting', 'rewrite'] as const;

export const commands: readonly CommandSpec[] = [
  {
    name: 'detect',
    summary: 'which agents have stores on this machine, and what shows it',
    example: "sessionlake detect --json | jq -r '.installed_agents[].slug'",
    options: ['agent', 'root', 'exclude', 'host', 'json'],
    texts: { agent: 'ask about these agents only, comma-separated; aliases are known (default: all)' },
    extra: [new Option('--all', 'also agents that are not here (default: where they are named by --agent)')],
    load: async () => (await import('./detect.ts')).detect,
  },
  {
    name: 'sources',
    summary: 'what would be read and, with a lake or cursor, what changed',
    example: 'sessionlake sources --agent claude --out ~/lake',
    options: ['agent', 'root', 'exclude', 'host', 'json', 'out', 'cursor', 'tables', 'sources-from'],
    texts: {
      json: 'for programs: NDJSON, one object a source (with --explain: one object an agent)',
      out: 'a lake: say of each source whether it is new, changed or unchanged (default: do not)',
      cursor: 'a cursor file: the same for a stream, or a lake whose cursor is elsewhere (default: none)',
      tables: 'name raw or history to see the sources that only they are made of (default: all others)',
    },
    extra: [
      new Option('--explain', 'for each agent: places and variables looked at, what was found, what was passed by'),
    ],
    load: async () => (await import('./sources.ts')).sources,
  },
  {
    name: 'stream',
    summary: 'rows on standard output: NDJSON, or one table as an Arrow stream',
    example: 'sessionlake stream --tables messages | jq -r \'select(.role == "user") | .text\'',
    options: [...rows, 'format', 'cursor'],
    texts: { format: 'ndjson (default), or arrow: an Arrow IPC stream of the one table named by --tables' },
    load: async () => (await import('./read.ts')).stream,
  },
  {
    name: 'export',
    summary: 'a whole snapshot into a folder, replacing the one before',
    example: 'sessionlake export --format parquet --out ~/sessions',
    options: [...rows, 'out', 'format', 'parquet-engine', 'partition', 'json'],
    texts: { out: 'folder of the snapshot (required)' },
    load: async () => (await import('./read.ts')).exportCommand,
  },
  {
    name: 'sync',
    summary: 'what is new since the last run into a lake (for cron)',
    example: 'sessionlake sync --out ~/lake --quiet',
    options: [...rows, 'out', 'format', 'parquet-engine', 'partition', 'cursor', 'json'],
    texts: { cursor: 'file that keeps what was read (default: _sessionlake/cursor.db in the lake)' },
    load: async () => (await import('./read.ts')).sync,
  },
  {
    name: 'run',
    summary: 'run a pipeline definition (a JSON file)',
    example: 'sessionlake run pipelines/batch-parquet.json',
    argument: '<file>',
    options: [],
    load: async () => (await import('./run-file.ts')).runFile,
  },
  {
    name: 'usage',
    summary: 'token totals by day, agent and model',
    example: 'sessionlake usage --since 2026-11-01',
    options: [...reading, 'since', 'until', 'accounting', 'gate', 'json', 'time-zone'],
    load: async () => (await import('./usage.ts')).usage,
  },
  {
    name: 'verify',
    summary: 'check the files of a lake against its manifest',
    example: 'sessionlake verify ~/lake',
    argument: '<dir>',
    options: ['json'],
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    name: 'cursor show',
    summary: 'what a cursor remembers',
    example: 'sessionlake cursor show --out ~/lake',
    options: ['out', 'cursor', 'json'],
    texts: {
      out: 'the lake whose cursor is shown (required, unless --cursor names the file)',
      cursor: 'the cursor file itself (default: that of the lake)',
    },
    load: async () => (await import('./cursor.ts')).cursorShow,
  },
  {
    name: 'cursor reset',
    summary: 'forget what was read: the next sync writes into a new folder or a cleared one',
    example: 'sessionlake cursor reset --out ~/lake --agent codex',
    options: ['out', 'cursor', 'agent'],
    texts: {
      out: 'the lake whose cursor is reset (required, unless --cursor names the file)',
      cursor: 'the cursor file itself (default: that of the lake)',
      agent: 'read the sources of these agents from their start again, and keep the rest (default: forget all)',
    },
    extra: [
      new Option(
        '--lost-files',
        'forget only files of the lake that are gone, and so their rows: syncs go on without them (default: they stop)',
      ),
    ],
    load: async () => (await import('./cursor.ts')).cursorReset,
  },
  {
    name: 'schema',
    summary: 'the tables: JSON Schema, SQL DDL or Markdown',
    example: 'sessionlake schema --as duckdb-views --out ~/lake | duckdb',
    options: ['tables', 'out', 'format'],
    texts: {
      tables: 'only these tables, comma-separated (default: all, raw and history too)',
      out: 'for duckdb-views: the lake that the views are over (required there)',
      format: 'for duckdb-views: format of that lake (default: what its manifest says)',
    },
    extra: [
      new Option('--as <what>', 'what to print')
        .choices(['json-schema', 'duckdb', 'duckdb-views', 'bigquery', 'clickhouse', 'markdown'])
        .default('json-schema'),
    ],
    load: async () => (await import('./schema.ts')).schema,
  },
];

/** The command line: which command, with which options. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import type { OptionsInput } from '../options.ts';
import { explainError, type Failure } from './errors.ts';

type Values = Record<string, unknown>;
type Action = (options: OptionsInput, argument: string | undefined) => Promise<number>;

interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly example: string;
  readonly argument?: string;
  readonly options: readonly (keyof typeof optionTexts)[];
  readonly extra?: readonly Option[];
  /** Loaded when the command runs, so that `--help` stays fast. */
  readonly load: () => Promise<Action>;
}

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** Flags and help of all options; what their values may be is said in `options.ts`. */
const optionTexts = {
  agent: () => new Option('--agent <names>', 'only these agents, comma-separated; aliases are known'),
  root: () =>
    new Option(
      '--root <agent=PATH>',
      "read this folder (or one file) instead of the agent's own; may be repeated",
    ).argParser(collect),
  exclude: () =>
    new Option('--exclude <path>', 'pass by this path and all below it; may be repeated').argParser(collect),
  since: () => new Option('--since <time>', 'only rows from this time on (UTC day or ISO-8601)'),
  until: () => new Option('--until <time>', 'only rows before this time'),
  tables: () => new Option('--tables <names>', 'only these tables; raw and history must be named to be read'),
  gate: () =>
    new Option(
      '--gate <gate>',
      'strict: a source with a bad record is held back; quarantine (default): only the record',
    ),
  threads: () => new Option('--threads <n>', 'worker threads (default: one a processor, at most 8)'),
  'max-line': () => new Option('--max-line <bytes>', 'a longer line becomes an issue (default 64MiB)'),
  'max-file': () => new Option('--max-file <bytes>', 'a larger source fails (default: no limit)'),
  'stop-at-byte': () =>
    new Option('--stop-at-byte <n>', 'read the one file that is named up to this byte; a shorter one fails'),
  tail: () =>
    new Option(
      '--tail <how>',
      'tolerant (default): an unterminated last line is still being written; strict: an error',
    ),
  accounting: () =>
    new Option(
      '--accounting <policy>',
      'strict (default): impossible counters are not counted; statistics: they are mended, visibly',
    ),
  rewrite: () =>
    new Option('--rewrite <FROM=TO>', 'workspace paths of a store copied from elsewhere; may be repeated').argParser(
      collect,
    ),
  host: () => new Option('--host <name>', 'name of the machine the stores belong to (default: this one)'),
  quiet: () => new Option('--quiet', 'no progress and no summary'),
  json: () => new Option('--json', 'for programs: JSON on stdout'),
  out: () => new Option('--out <dir>', 'folder of the lake'),
  format: () => new Option('--format <format>', 'parquet (default), arrow or ndjson'),
  'parquet-engine': () => new Option('--parquet-engine <name>', 'hyparquet-writer (default) or parquetjs-lite'),
  partition: () => new Option('--partition <by>', 'Hive folders by agent or day (default none)'),
  cursor: () => new Option('--cursor <file>', 'cursor file: only what is new since it was last moved'),
  'time-zone': () => new Option('--time-zone <zone>', 'IANA zone of the days (default: the system’s)'),
  'sources-from': () =>
    new Option('--sources-from <file>', 'only the source paths listed in this file, one a line; - = standard input'),
} as const satisfies Record<string, () => Option>;

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
const all = () => new Option('--all', 'also agents that are not here');

const commands: readonly CommandSpec[] = [
  {
    name: 'detect',
    summary: 'which agents have stores on this machine',
    example: 'sessionlake detect --json',
    options: ['agent', 'root', 'json'],
    extra: [all()],
    load: async () => (await import('./detect.ts')).detect,
  },
  {
    name: 'sources',
    summary: 'what would be read and, with a lake or cursor, what changed',
    example: 'sessionlake sources --agent claude --out ~/lake',
    options: ['agent', 'root', 'exclude', 'host', 'json', 'out', 'cursor', 'tables', 'sources-from'],
    load: async () => (await import('./sources.ts')).sources,
  },
  {
    name: 'stream',
    summary: 'rows as NDJSON on standard output',
    example: 'sessionlake stream --tables messages | jq -r \'select(.role == "user") | .text\'',
    options: [...rows, 'cursor'],
    load: async () => (await import('./read.ts')).stream,
  },
  {
    name: 'export',
    summary: 'a whole snapshot into a folder, replacing the one before',
    example: 'sessionlake export --format parquet --out ~/sessions',
    options: [...rows, 'out', 'format', 'parquet-engine', 'partition', 'json'],
    load: async () => (await import('./read.ts')).exportCommand,
  },
  {
    name: 'sync',
    summary: 'what is new since the last run into a lake (for cron)',
    example: 'sessionlake sync --out ~/lake --quiet',
    options: [...rows, 'out', 'format', 'parquet-engine', 'partition', 'cursor', 'json'],
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
    name: 'schema',
    summary: 'the tables: JSON Schema, SQL DDL or Markdown',
    example: 'sessionlake schema --as duckdb-views --out ~/lake | duckdb',
    options: ['tables', 'out', 'format'],
    extra: [
      new Option('--as <what>', 'what to print')
        .choices(['json-schema', 'duckdb', 'duckdb-views', 'bigquery', 'clickhouse', 'markdown'])
        .default('json-schema'),
    ],
    load: async () => (await import('./schema.ts')).schema,
  },
];

const version = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

function addCommand(program: Command, spec: CommandSpec, done: (status: number) => void): void {
  const command = program
    .command(spec.name)
    .summary(spec.summary)
    .description(`${spec.summary[0]!.toUpperCase()}${spec.summary.slice(1)}.`);
  if (spec.argument !== undefined) command.argument(spec.argument);
  for (const name of spec.options) command.addOption(optionTexts[name]());
  for (const option of spec.extra ?? []) command.addOption(option);
  command.addHelpText('after', `\nExample:\n  $ ${spec.example}`);
  command.action(async (...args: unknown[]) => {
    const argument = spec.argument === undefined ? undefined : (args[0] as string);
    const values = command.opts<Values>();
    const options = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`), value]),
    );
    const action = await spec.load();
    done(await action(options as OptionsInput, argument));
  });
}

function addCursorCommand(program: Command, done: (status: number) => void): void {
  const cursor = program.command('cursor').summary('show or reset a cursor').description('Show or reset a cursor.');
  for (const name of ['show', 'reset'] as const) {
    const command = cursor
      .command(name)
      .description(
        name === 'show'
          ? 'What the cursor remembers.'
          : 'Forget what was read: the next sync writes into a new folder or a cleared one.',
      )
      .addOption(optionTexts.out())
      .addOption(optionTexts.cursor())
      .addHelpText('after', `\nExample:\n  $ sessionlake cursor ${name} --out ~/lake`);
    if (name === 'show') command.addOption(optionTexts.json());
    else command.option('--agent <names>', 'only the sources of these agents');
    command.action(async () => {
      const module = await import('./cursor.ts');
      const action = name === 'show' ? module.cursorShow : module.cursorReset;
      done(await action(command.opts() as OptionsInput));
    });
  }
}

/** Ends by a signal run what is to be done at the end; a batch that was under way is the next run's to clear. */
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A reader that went away is no error; anything else that keeps output from being written is. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`sessionlake: standard output cannot be written: ${error.message}\n`);
  process.exit(3);
}

/** Runs the command line and gives the exit status. Never throws. */
export async function main(args: readonly string[]): Promise<number> {
  for (const [signal, code] of Object.entries(signals)) process.once(signal, () => process.exit(code));
  process.stdout.on('error', leaveQuietly);
  let status = 0;
  const done = (value: number): void => {
    status = value;
  };
  const program = new Command('sessionlake')
    .description(
      'Coding-agent session stores into warehouse tables: NDJSON on a pipe, Parquet or Arrow files, once or incrementally.',
    )
    .version(version())
    .showHelpAfterError("(see 'sessionlake help COMMAND')")
    .exitOverride()
    .addHelpText('after', '\nExample:\n  $ sessionlake export --format parquet --out ~/sessions');
  for (const spec of commands) addCommand(program, spec, done);
  addCursorCommand(program, done);
  // Sub-commands inherit `exitOverride` only when it was set before them; set it on all, to be sure.
  for (const command of [...program.commands, ...program.commands.flatMap((c) => c.commands)]) command.exitOverride();
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has printed its message (or the help text, status 0) already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    const failure: Failure = explainError(error);
    if (failure.message !== null) process.stderr.write(`sessionlake: ${failure.message}\n`);
    return failure.status;
  }
  return status;
}

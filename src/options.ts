/** Options of every command, in one schema: command line, pipeline definitions and the library all pass through it. */
import { homedir, hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { AgentDefinition } from './agents/agent.ts';
import { agentNamed, agents as allAgents } from './agents/registry.ts';
import type { Projection } from './decoding/emitter.ts';
import { type DiscoveryRequest, resolveExclusions } from './discovery/discovery.ts';
import { defaultLimits, type ReadLimits } from './framing/limits.ts';
import { accountingPolicies } from './ledger/normalize.ts';
import { type Gate, gates } from './records/summary.ts';
import { defaultTables, type TableName, tableNames, tables } from './records/tables.ts';
import { partitions } from './sinks/partition.ts';
import { UsageError } from './usage-error.ts';

export { UsageError };

const byteUnits: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

const bytes = z.union([
  z.int().positive(),
  z.string().transform((text, context) => {
    const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
    const value = match === null ? 0 : Math.floor(Number(match[1]) * byteUnits[(match[2] ?? '').toLowerCase()]!);
    if (value > 0 && Number.isSafeInteger(value)) return value;
    context.addIssue(`'${text}' is no size; write bytes or a size like 64MiB`);
    return z.NEVER;
  }),
]);

/** Whether a day is in the calendar: `Date.parse` takes February 30 for March 2. */
const isDay = (day: string): boolean => {
  const millis = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(day);
};

const time = z.string().transform((text, context) => {
  const day = /^(\d{4}-\d\d-\d\d)(?:$|T.*(?:Z|[+-]\d\d:?\d\d)$)/.exec(text)?.[1];
  const millis = day === undefined || !isDay(day) ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(millis)) return millis;
  context.addIssue(`'${text}' is no time; write 2026-01-31 (UTC) or 2026-01-31T09:00:00Z`);
  return z.NEVER;
});

const list = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(','))])
  .transform((items) => items.map((s) => s.trim()).filter((s) => s !== ''))
  // A list that was meant to name something and names nothing must not mean all, nor nothing.
  .refine((items) => items.length > 0, 'the list is empty');

const rootList = z.union([
  z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  z.array(z.string()).transform((entries, context) => {
    const roots: Record<string, string[]> = {};
    for (const entry of entries) {
      const at = entry.indexOf('=');
      if (at <= 0 || at === entry.length - 1) {
        context.addIssue(`'${entry}' is not agent=PATH`);
        return z.NEVER;
      }
      const agent = entry.slice(0, at);
      const roots_ = roots[agent] ?? [];
      roots_.push(entry.slice(at + 1));
      roots[agent] = roots_;
    }
    return roots;
  }),
]);

const rewrites = z.array(z.string()).transform((entries, context) =>
  entries.map((entry) => {
    const at = entry.indexOf('=');
    if (at <= 0) {
      context.addIssue(`'${entry}' is not FROM=TO`);
      return z.NEVER;
    }
    return { from: entry.slice(0, at), to: entry.slice(at + 1) };
  }),
);

const MAX_THREADS = 64;
const threads = z.union([
  z.int().min(1).max(MAX_THREADS),
  z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(1).max(MAX_THREADS)),
]);

const timeZone = z.string().refine(
  (zone) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
    } catch {
      return false;
    }
  },
  { error: (issue) => `'${String(issue.input)}' is no IANA time zone, like Europe/Berlin` },
);

const tails = ['tolerant', 'strict'] as const;
const formats = ['parquet', 'arrow', 'ndjson'] as const;
const engines = ['hyparquet-writer', 'parquetjs-lite'] as const;

/** All options. Names are those of the command line, without the dashes. */
export const optionsSchema = z.strictObject({
  agent: list.optional(),
  root: rootList.optional(),
  exclude: z.array(z.string()).optional(),
  since: time.optional(),
  until: time.optional(),
  tables: list.optional(),
  gate: z.enum(gates).optional(),
  threads: threads.optional(),
  'max-line': bytes.optional(),
  'max-file': bytes.optional(),
  'stop-at-byte': bytes.optional(),
  tail: z.enum(tails).optional(),
  accounting: z.enum(accountingPolicies).optional(),
  rewrite: rewrites.optional(),
  host: z.string().min(1).optional(),
  quiet: z.boolean().optional(),
  json: z.boolean().optional(),
  out: z.string().min(1).optional(),
  format: z.enum(formats).optional(),
  'parquet-engine': z.enum(engines).optional(),
  partition: z.enum(partitions).optional(),
  cursor: z.string().min(1).optional(),
  'time-zone': timeZone.optional(),
  'sources-from': z.string().min(1).optional(),
});

export type OptionsInput = z.input<typeof optionsSchema>;
export type Options = z.output<typeof optionsSchema>;

const optionNames = Object.keys(optionsSchema.shape) as (keyof Options)[];

const oneOf = (values: readonly string[]): string => values.join(', ').replace(/, ([^,]*)$/, ' or $1');
const size = 'a number of bytes or a size like 64MiB';
const moment = 'a time like 2026-01-31 (UTC) or 2026-01-31T09:00:00Z';

/** What the value of each option is, in words: for messages. */
const meanings: Readonly<Record<keyof Options, string>> = {
  agent: 'a list of names of agents',
  root: 'agent=PATH',
  exclude: 'a list of paths',
  since: moment,
  until: moment,
  tables: 'a list of names of tables',
  gate: oneOf(gates),
  threads: `a whole number from 1 to ${MAX_THREADS}`,
  'max-line': size,
  'max-file': size,
  'stop-at-byte': size,
  tail: oneOf(tails),
  accounting: oneOf(accountingPolicies),
  rewrite: 'a list of FROM=TO',
  host: 'a name',
  quiet: 'true or false',
  json: 'true or false',
  out: 'the path of a folder',
  format: oneOf(formats),
  'parquet-engine': oneOf(engines),
  partition: oneOf(partitions),
  cursor: 'the path of a file',
  'time-zone': 'an IANA time zone, like Europe/Berlin',
  'sources-from': 'the path of a file, or - for standard input',
};

/** A value as it is told in a message: short, and recognizable. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > 80 ? `${value.slice(0, 80)}…` : value}'`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

/** A message of our own on this option's value, where one of its shapes has one. */
function ownWords(issue: z.core.$ZodIssue): string | null {
  if (issue.code === 'custom') return issue.message;
  if (issue.code !== 'invalid_union') return null;
  for (const nested of issue.errors.flat()) {
    const words = ownWords(nested);
    if (words !== null) return words;
  }
  return null;
}

/** The options whose names come nearest to one that is not known, else all. */
function suggestion(unknown: string): string {
  const names: readonly string[] = optionNames;
  // The library's users may write them as one word: `maxLine`, `max_line`, `--max-line`.
  const plain = (name: string): string => name.replace(/[^a-z]/gi, '').toLowerCase();
  const same = names.find((name) => plain(name) === plain(unknown));
  return same === undefined ? `known: ${names.join(', ')}` : `did you mean '${same}'?`;
}

/** Where in a value the fault is; the value itself unless one of its shapes got further into it. */
function pathTo(issue: z.core.$ZodIssue): readonly PropertyKey[] {
  if (issue.code !== 'invalid_union') return issue.path;
  const inner = issue.errors.flat().find((nested) => nested.path.length > 0);
  return inner === undefined ? issue.path : [...issue.path, ...pathTo(inner)];
}

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );

/** What is wrong with the value of an option, in words. */
function faultOf(name: keyof Options, issue: z.core.$ZodIssue, input: unknown): string {
  const path = pathTo(issue);
  const value = shown(valueAt(input, path));
  return (
    ownWords(issue) ??
    (path.length > 1 ? `it holds ${value}, and must be ${meanings[name]}` : `${value} is not ${meanings[name]}`)
  );
}

/** Validates options. Throws `UsageError` that names the option, its value and what it should be. */
export function parseOptions(input: unknown): Options {
  const result = optionsSchema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const [first = ''] = issue.keys;
      return `unknown option${issue.keys.length > 1 ? 's' : ''} ${issue.keys.map((k) => `'${k}'`).join(', ')}; ${suggestion(first)}`;
    }
    const name = optionNames.find((option) => option === issue.path[0]);
    if (name === undefined)
      return `the options are ${shown(input)}; they must be an object, like { agent: ['claude'] }`;
    return `--${name}: ${faultOf(name, issue, input)}`;
  });
  throw new UsageError(problems.join('; '));
}

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Options made fit for a run: defaults filled in, names resolved. */
export interface ReadPlan {
  readonly discovery: DiscoveryRequest;
  readonly projection: Projection;
  readonly limits: ReadLimits;
  readonly gate: Gate;
  /** null: as many as there are processors, and none for little work. */
  readonly threads: number | null;
  readonly host: string;
  readonly quiet: boolean;
  /** Milliseconds since 1970: the time that `sources.ingested_at` tells. */
  readonly now: number;
}

function agentsOf(options: Options): readonly AgentDefinition[] {
  if (options.agent === undefined) return allAgents;
  try {
    return [...new Set(options.agent.map(agentNamed))];
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function tablesOf(options: Options): readonly TableName[] {
  if (options.tables === undefined) return defaultTables;
  for (const name of options.tables) {
    if (!Object.hasOwn(tables, name))
      throw new UsageError(`--tables: unknown table '${name}'; known: ${tableNames.join(', ')}`);
  }
  return tableNames.filter((name) => options.tables!.includes(name));
}

function rootsOf(options: Options): Record<string, string[]> {
  const roots: Record<string, string[]> = {};
  for (const [name, paths] of Object.entries(options.root ?? {})) {
    try {
      const { slug } = agentNamed(name);
      roots[slug] = [...(roots[slug] ?? []), ...(typeof paths === 'string' ? [paths] : paths)];
    } catch (error) {
      throw new UsageError(`--root: ${(error as Error).message}`);
    }
  }
  return roots;
}

/** `HOME`, or what the system says; on Windows `USERPROFILE`. */
const homeOf = ({ env, platform }: Environment): string =>
  (platform === 'win32' ? env['USERPROFILE'] : env['HOME']) || homedir();

/** Resolves options against the environment. Throws `UsageError`; nothing has been read then. */
export function planRead(options: Options, environment: Environment): ReadPlan {
  const home = homeOf(environment);
  const selected = tablesOf(options);
  const fromEnv = (environment.env['SESSIONLAKE_EXCLUDE_PATHS'] ?? '')
    .split(environment.platform === 'win32' ? ';' : ':')
    .filter((s) => s !== '');
  let exclude: string[];
  try {
    exclude = resolveExclusions([...(options.exclude ?? []), ...fromEnv], home);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const host = options.host ?? (environment.env['SESSIONLAKE_HOST'] || hostname());
  if (options.since !== undefined && options.until !== undefined && options.since >= options.until) {
    throw new UsageError('--since must be before --until');
  }
  const roots = rootsOf(options);
  for (const path of Object.values(roots).flat()) {
    if (path.startsWith('~'))
      throw new UsageError(`--root: ${path}: write the path in full; '~' was not expanded by the shell`);
  }
  const epoch = environment.env['SOURCE_DATE_EPOCH'];
  return {
    discovery: {
      agents: agentsOf(options),
      environment: { env: environment.env, home, platform: environment.platform },
      roots,
      exclude,
      host,
      optIn: new Set(selected.filter((name) => tables[name].optIn)),
    },
    projection: {
      tables: selected,
      since: options.since ?? null,
      until: options.until ?? null,
      rewrite: options.rewrite ?? [],
      accounting: options.accounting ?? 'strict',
      totalsOnly: false,
    },
    limits: {
      maxLine: options['max-line'] ?? defaultLimits.maxLine,
      maxFile: options['max-file'] ?? defaultLimits.maxFile,
      tail: options.tail ?? defaultLimits.tail,
      stopAtByte: options['stop-at-byte'] ?? null,
    },
    gate: options.gate ?? 'quarantine',
    threads: options.threads ?? null,
    host,
    quiet: options.quiet ?? false,
    now: epoch !== undefined && /^\d+$/.test(epoch) ? Number(epoch) * 1000 : Date.now(),
  };
}

/** What a lake is written as. */
export interface LakeTarget {
  readonly folder: string;
  readonly format: (typeof formats)[number];
  readonly engine: (typeof engines)[number];
  readonly partition: (typeof partitions)[number];
}

/** The lake that `--out` names. Throws a `UsageError` that says who needs it where it is missing. */
export function lakeTarget(options: Options, command: string): LakeTarget {
  if (options.out === undefined) throw new UsageError(`${command} needs --out DIR, the folder of the lake`);
  return {
    folder: resolve(options.out),
    format: options.format ?? 'parquet',
    engine: options['parquet-engine'] ?? 'hyparquet-writer',
    partition: options.partition ?? 'none',
  };
}

/** The zone that days are those of where none is given. */
export const systemTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export type StreamFormat = 'ndjson' | 'arrow';

/** What a stream is written as. Throws `UsageError`: an Arrow stream has one schema, and so holds one table. */
export function streamFormat(options: Options, plan: ReadPlan): StreamFormat {
  const { format = 'ndjson' } = options;
  if (format === 'parquet')
    throw new UsageError('--format: a stream is ndjson or arrow; Parquet files are written by export and sync');
  const { tables: selected } = plan.projection;
  if (format === 'arrow' && (options.tables === undefined || selected.length !== 1))
    throw new UsageError('--format arrow writes one table: name it, like --tables messages');
  return format;
}

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
    if (value > 0) return value;
    context.addIssue(`'${text}' is no size; write bytes or a size like 64MiB`);
    return z.NEVER;
  }),
]);

const time = z.string().transform((text, context) => {
  const dateOnly = /^\d{4}-\d\d-\d\d$/.test(text);
  const millis = dateOnly || /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(millis)) return millis;
  context.addIssue(`'${text}' is no time; write 2026-01-31 (UTC) or 2026-01-31T09:00:00Z`);
  return z.NEVER;
});

const list = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(','))])
  .transform((items) => items.map((s) => s.trim()).filter((s) => s !== ''));

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

const threads = z.coerce.number().int().min(1).max(64);

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
  tail: z.enum(['tolerant', 'strict']).optional(),
  accounting: z.enum(accountingPolicies).optional(),
  rewrite: rewrites.optional(),
  host: z.string().min(1).optional(),
  quiet: z.boolean().optional(),
  json: z.boolean().optional(),
  out: z.string().min(1).optional(),
  format: z.enum(['parquet', 'arrow', 'ndjson']).optional(),
  'parquet-engine': z.enum(['hyparquet-writer', 'parquetjs-lite']).optional(),
  partition: z.enum(partitions).optional(),
  cursor: z.string().min(1).optional(),
  'time-zone': z.string().min(1).optional(),
  'sources-from': z.string().min(1).optional(),
});

export type OptionsInput = z.input<typeof optionsSchema>;
export type Options = z.output<typeof optionsSchema>;

/** Where one of several shapes was expected, what the one that came nearest says. */
function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message;
  const nested = issue.errors.flat().find((inner) => inner.code === 'custom') ?? issue.errors.flat()[0];
  return nested === undefined ? issue.message : wordsOf(nested);
}

/** Validates options. Throws `UsageError` that names the option. */
export function parseOptions(input: unknown): Options {
  const result = optionsSchema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return `unknown option${issue.keys.length > 1 ? 's' : ''} ${issue.keys.map((k) => `'${k}'`).join(', ')}; known: ${Object.keys(optionsSchema.shape).join(', ')}`;
    }
    return `${issue.path.length === 0 ? 'options' : `--${String(issue.path[0])}`}: ${wordsOf(issue)}`;
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

/** The folder that `--out` names. Throws `UsageError` where it is missing. */
export function outFolder(options: Options, command: string): string {
  if (options.out === undefined) throw new UsageError(`${command} needs --out DIR`);
  return resolve(options.out);
}

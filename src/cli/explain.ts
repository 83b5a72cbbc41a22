/** `sessionlake sources --explain`: where an agent's stores were looked for, what was found, and what was not taken. */
import { accessSync, constants, statSync } from 'node:fs';
import { extname, sep } from 'node:path';
import type { AgentDefinition, Entry, FileEntry, SourceFault } from '../agents/agent.ts';
import { type Discovery, discover, type FoundRoot, type LeftOut, type RootState } from '../discovery/discovery.ts';
import { FileWalker } from '../discovery/walker.ts';
import type { StoreDatabase } from '../framing/database.ts';
import { type ReadPlan, UsageError } from '../options.ts';
import { FORMAT_VERSION } from '../results.ts';
import { allPassedBy, formatBytes, plural } from './people.ts';
import type { Line } from './terminal.ts';

/** A walker that remembers what it was shown and what it was asked for. */
class WatchingWalker extends FileWalker {
  readonly listed = new Set<string>();
  readonly used = new Set<string>();

  override list(path: string): Entry[] {
    const entries = super.list(path);
    for (const entry of entries) if (entry.type === 'file') this.listed.add(entry.path);
    return entries;
  }

  override read(path: string, maxBytes: number): Buffer | null {
    this.used.add(path);
    return super.read(path, maxBytes);
  }

  override tree(paths: readonly string[]): { files: FileEntry[]; bytes: number; state: string } {
    const tree = super.tree(paths);
    for (const { path } of tree.files) this.used.add(path);
    return tree;
  }

  override database<T>(path: string, look: (database: StoreDatabase) => T): { value: T } | { fault: SourceFault } {
    this.used.add(path);
    return super.database(path, look);
  }
}

interface ExplainedRoot {
  readonly path: string;
  readonly reason: string;
  readonly state: RootState | 'unreadable';
}

interface OtherFiles {
  /** Ending of the names, with the dot; empty where there is none. */
  readonly ending: string;
  readonly files: number;
  /** The first of them. */
  readonly example: string;
}

/** What is told of one agent, as JSON. */
export interface Explanation {
  readonly format_version: typeof FORMAT_VERSION;
  readonly agent: string;
  readonly name: string;
  readonly variables: readonly { readonly name: string; readonly value: string | null }[];
  readonly roots: readonly ExplainedRoot[];
  readonly stores: readonly { readonly store_kind: string; readonly sources: number; readonly bytes: number }[];
  /** Found and not read for a fault or a rule of safety: links, files that are too large, folders without permission. */
  readonly passed_by: Discovery['issues'];
  /** Sources for which another file stands, or that belong to a table that was not asked for. */
  readonly left_out: Discovery['leftOut'];
  /** Below `--exclude`. */
  readonly excluded: readonly string[];
  /** Files in the folders that were looked into: by their names no sources, or another file stands for them. */
  readonly other_files: readonly OtherFiles[];
}

/** The variables that an agent's definition asks for when it names its roots. */
function variablesOf(agent: AgentDefinition, plan: ReadPlan): Explanation['variables'] {
  const { environment } = plan.discovery;
  const asked = new Set<string>();
  const env = new Proxy(environment.env, {
    get(target, name) {
      if (typeof name === 'string') asked.add(name);
      return Reflect.get(target, name);
    },
  });
  agent.roots({ ...environment, env });
  return [...asked].sort().map((name) => ({ name, value: environment.env[name] ?? null }));
}

/** A root that is there, but closed to this user, looks empty from inside. */
function stateOf({ path, state }: FoundRoot): ExplainedRoot['state'] {
  if (state !== 'read' && state !== 'absent') return state;
  try {
    accessSync(path, statSync(path).isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK);
    return state;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '') ? state : 'unreadable';
  }
}

function otherFiles(walker: WatchingWalker, discovery: Discovery): OtherFiles[] {
  const taken = new Set(walker.used);
  const folders: string[] = [];
  for (const { spec } of discovery.sources) {
    taken.add(spec.path);
    folders.push(spec.path + sep);
    for (const path of Object.values(spec.sidecars)) taken.add(path);
  }
  for (const { path } of discovery.leftOut) taken.add(path);
  const byEnding = new Map<string, { ending: string; files: number; example: string }>();
  for (const path of [...walker.listed].sort()) {
    if (taken.has(path) || folders.some((folder) => path.startsWith(folder))) continue;
    const ending = extname(path);
    const group = byEnding.get(ending) ?? { ending, files: 0, example: path };
    group.files++;
    byEnding.set(ending, group);
  }
  return [...byEnding.values()].sort((a, b) => b.files - a.files);
}

function storesOf(discovery: Discovery): Explanation['stores'] {
  const stores = new Map<string, { store_kind: string; sources: number; bytes: number }>();
  for (const { spec, size } of discovery.sources) {
    const store = stores.get(spec.storeKind) ?? { store_kind: spec.storeKind, sources: 0, bytes: 0 };
    store.sources++;
    store.bytes += size ?? 0;
    stores.set(spec.storeKind, store);
  }
  return [...stores.values()].sort((a, b) => (a.store_kind < b.store_kind ? -1 : 1));
}

/** Looks for the stores of one agent and says what was met on the way. Throws `UsageError`. */
export function explain(agent: AgentDefinition, plan: ReadPlan): Explanation {
  const excluded = new Set<string>();
  let walker: WatchingWalker | null = null;
  let discovery: Discovery;
  try {
    discovery = discover({ ...plan.discovery, agents: [agent] }, (slug, isExcluded) => {
      walker = new WatchingWalker(slug, (path) => {
        const is = isExcluded(path);
        if (is) excluded.add(path);
        return is;
      });
      return walker;
    });
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
  return {
    format_version: FORMAT_VERSION,
    agent: agent.slug,
    name: agent.name,
    variables: variablesOf(agent, plan),
    roots: (discovery.roots.get(agent.slug) ?? []).map((root) => ({
      path: root.path,
      reason: root.reason,
      state: stateOf(root),
    })),
    stores: storesOf(discovery),
    passed_by: discovery.issues,
    left_out: discovery.leftOut,
    excluded: [...excluded].sort(),
    other_files: walker === null ? [] : otherFiles(walker, discovery),
  };
}

const stateWords: Readonly<Record<ExplainedRoot['state'], string>> = {
  read: 'looked into',
  absent: 'not there',
  no_folder: 'there, but no folder',
  relative: 'passed by: not an absolute path',
  unreadable: 'there, but not readable by you',
  excluded: 'passed by: excluded',
  same_as_before: 'passed by: the same folder as one above',
  other_reading: 'passed by: the variable as a whole names a folder',
};

const LISTED = 20;

function listed(lines: readonly string[]): string[] {
  const more = lines.length - LISTED;
  return [...lines.slice(0, LISTED), ...(more > 0 ? [`  … and ${plural(more, 'other')} (--json lists all)`] : [])];
}

function leftWords({ path, code, by }: LeftOut): string {
  switch (code) {
    case 'not_asked_for':
      return `not asked for: ${path} (--tables ${by} reads it)`;
    case 'same_source':
      return `superseded: ${path} (the same source as ${by})`;
    case 'other_store':
      return `superseded: ${path} (another store of the agent tells the same session)`;
  }
}

/** An explanation in lines for people. */
export function explanationLines(e: Explanation): Line[] {
  const lines: Line[] = [{ text: `${e.agent} (${e.name})`, style: 'bold' }];
  for (const { name, value } of e.variables)
    lines.push(`  variable ${name}: ${value === null ? 'not set' : value === '' ? 'empty' : value}`);
  for (const { path, reason, state } of e.roots) lines.push(`  root ${path} (${reason}): ${stateWords[state]}`);
  if (e.roots.length === 0) lines.push('  no root to look at');
  for (const { store_kind, sources, bytes } of e.stores)
    lines.push(`  found: ${plural(sources, 'source')} of ${store_kind}, ${formatBytes(bytes)}`);
  if (e.stores.length === 0) lines.push('  found: no source');
  lines.push(...allPassedBy(e.passed_by).map((line) => `  ${line}`));
  lines.push(
    ...listed(e.left_out.map((left) => `  ${leftWords(left)}`)),
    ...listed(e.excluded.map((path) => `  excluded: ${path}`)),
  );
  for (const { ending, files, example } of e.other_files)
    lines.push(
      `  not taken: ${plural(files, 'file')} ${ending === '' ? 'without an ending' : `*${ending}`}, like ${example}`,
    );
  return lines;
}

/** Where Claude Code keeps its sessions, and which of the files there are sessions. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, Entry, RootCandidate, SourceSpec, Walker } from '../agent.ts';

export const SESSION_STORE = 'claude-session';
export const HISTORY_STORE = 'claude-history';

/**
 * Config folders to look at. `CLAUDE_CONFIG_DIR` is one path to the vendor, and a comma list to those who have several;
 * nothing here may look whether it exists as a whole, so that both readings are candidates, the whole value first. Only
 * without it do the default places count. An empty value is no value (and not the current folder).
 */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const variable = env['CLAUDE_CONFIG_DIR']?.trim() ?? '';
  if (variable !== '') {
    const reason = 'env CLAUDE_CONFIG_DIR';
    const whole = { path: configFolder(variable, home), reason };
    if (!variable.includes(',')) return [whole];
    // The vendor takes the variable as one path; only where there is none such is it a list.
    const parts = variable.split(',').map((value) => ({ path: configFolder(value, home), reason, unless: whole.path }));
    return distinct([whole, ...parts]);
  }
  const config = env['XDG_CONFIG_HOME']?.trim() || join(home, '.config');
  return distinct([
    { path: join(home, '.claude'), reason: 'default' },
    { path: join(config, 'claude'), reason: 'XDG' },
    { path: join(config, 'claude-code'), reason: 'XDG' },
  ]);
}

/** A value as ccusage takes it: `~/` is the home folder, and the `projects` folder itself may be named. */
function configFolder(value: string, home: string): string {
  const trimmed = value.trim().replace(/(?<=.)[\\/]+$/, '');
  const expanded = /^~(?=[\\/]|$)/.test(trimmed) ? join(home, trimmed.slice(1)) : trimmed;
  return expanded.replace(/(?<=.)[\\/]projects$/, '');
}

const distinct = (candidates: RootCandidate[]): RootCandidate[] =>
  candidates.filter(({ path }, index) => path !== '' && candidates.findIndex((other) => other.path === path) === index);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SUFFIX = '.jsonl';

const stemOf = (name: string): string | null => (name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : null);
const isAgentStem = (stem: string): boolean => stem.startsWith('agent-') && stem.length > 'agent-'.length;

/**
 * Sessions below a config folder, in path order, then its prompt history. Exactly three names are sessions:
 * `projects/<project>/<uuid>.jsonl`, `projects/<project>/agent-*.jsonl` (2.0.x) and `agent-*.jsonl` at any depth below
 * `projects/<project>/<uuid>/subagents/` (2.1.x). Everything else that looks like one is a cache, a log or an older
 * copy: `resume-head.jsonl`, `journal.jsonl`, `*.jsonl.replaced`, `*.jsonl.superseded-*`, `*.jsonl.compact.tmp.*`.
 */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const isProjects = basename(root) === 'projects' && !walker.isFolder(join(root, 'projects'));
  for (const project of walker.list(isProjects ? root : join(root, 'projects'))) {
    if (project.type === 'folder') yield* discoverProject(project.path, walker);
  }
  const history = join(root, 'history.jsonl');
  if (!isProjects && walker.isFile(history)) {
    yield {
      storeKind: HISTORY_STORE,
      path: history,
      identity: history,
      name: 'history',
      hints: { optIn: 'history' },
      sidecars: {},
    };
  }
}

function* discoverProject(folder: string, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(folder);
  const names = fileNames(entries);
  for (const entry of inPathOrder(entries)) {
    if (entry.type === 'folder') {
      if (UUID.test(entry.name)) yield* discoverAgents(join(entry.path, 'subagents'), entry.name, walker);
      continue;
    }
    const stem = stemOf(entry.name);
    if (stem === null) continue;
    if (UUID.test(stem)) yield sessionSource(entry, stem);
    else if (isAgentStem(stem)) yield agentSource(entry, stem, null, names);
  }
}

function* discoverAgents(folder: string, sessionId: string, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(folder);
  const names = fileNames(entries);
  for (const entry of inPathOrder(entries)) {
    if (entry.type === 'folder') yield* discoverAgents(entry.path, sessionId, walker);
    else {
      const stem = stemOf(entry.name);
      if (stem !== null && isAgentStem(stem)) yield agentSource(entry, stem, sessionId, names);
    }
  }
}

const sessionSource = (entry: Entry, stem: string): SourceSpec => ({
  storeKind: SESSION_STORE,
  path: entry.path,
  identity: entry.path,
  name: stem,
  hints: { isAgent: false, parent: null },
  sidecars: {},
});

/** `parent` is the session whose folder the file is in; null where only its rows tell. */
function agentSource(entry: Entry, stem: string, parent: string | null, names: ReadonlySet<string>): SourceSpec {
  const hasMeta = names.has(`${stem}.meta.json`);
  return {
    storeKind: SESSION_STORE,
    path: entry.path,
    identity: entry.path,
    name: stem,
    hints: { isAgent: true, parent },
    sidecars: hasMeta ? { meta: `${entry.path.slice(0, -SUFFIX.length)}.meta.json` } : {},
  };
}

const fileNames = (entries: readonly Entry[]): ReadonlySet<string> =>
  new Set(entries.filter((entry) => entry.type === 'file').map((entry) => entry.name));

/** Names come in byte order; in a path a folder's name is followed by a separator, which sorts after `.` and `-`. */
function inPathOrder(entries: readonly Entry[]): Entry[] {
  const key = (entry: Entry): string => (entry.type === 'folder' ? `${entry.name}/` : entry.name);
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

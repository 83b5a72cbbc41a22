/** Where Qoder's programs keep their sessions, and which of the files there are sessions. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, Entry, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import { configHome } from '../dialects/vscode.ts';

export const SESSION_STORE = 'qoder-jsonl';
export const TASK_STORE = 'qoder-task-jsonl';

const WORK = '.qoderwork';
const IDE = join('SharedClientCache', 'cli');

/** The command line program's config folder, that of its edition for China, and those of the desktop programs. */
export function roots(environment: AgentEnvironment): RootCandidate[] {
  const { home } = environment;
  return [
    configFolder(environment, 'QODER_', '.qoder'),
    configFolder(environment, 'QODERCN_', '.qoder-cn'),
    { path: join(home, WORK), reason: 'default (QoderWork)' },
    { path: join(configHome(environment), 'Qoder', IDE), reason: 'default (IDE)' },
  ];
}

function configFolder({ env, home }: AgentEnvironment, prefix: string, folder: string): RootCandidate {
  const value = (name: string): string => env[name]?.trim() ?? '';
  const whole = value(`${prefix}CONFIG_DIR`);
  if (whole !== '') return { path: whole, reason: `env ${prefix}CONFIG_DIR` };
  const bases = [`${prefix}CLI_HOME`, 'GEMINI_CLI_HOME'];
  const named = bases.find((name) => value(name) !== '');
  const name = value(`${prefix}CONFIG_DIR_NAME`) || folder;
  const base = named === undefined ? home : value(named);
  return { path: join(base, name), reason: named === undefined ? 'default' : `env ${named}` };
}

/** Sessions by project, or (IDE) without one; then those of the IDE's former tasks. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const isResumable = basename(root) !== WORK && !root.endsWith(IDE);
  yield* folderSessions(join(root, 'projects'), isResumable, 0, walker);
  for (const task of walker.list(join(root, 'tasks'))) {
    if (task.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(task.path)) {
      const stem = stemOf(name);
      if (type === 'file' && stem !== null)
        yield { ...specOf(path, stem), storeKind: TASK_STORE, hints: { isAgent: false, parent: null } };
    }
  }
}

/** What a transcript of the same session tells, a task's file is not asked for. */
export function choose(sources: readonly SourceSpec[]): readonly SourceSpec[] {
  const told = new Set(sources.filter(({ storeKind }) => storeKind === SESSION_STORE).map(({ name }) => name));
  return sources.filter(({ storeKind, name }) => storeKind !== TASK_STORE || !told.has(name));
}

/** Sessions in a folder; its own folders are projects, or those of sessions with their agents. */
function* folderSessions(folder: string, isResumable: boolean, depth: number, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(folder);
  const names = fileNames(entries);
  for (const entry of inPathOrder(entries)) {
    if (entry.type === 'folder') {
      yield* agentSessions(entry, walker);
      if (depth === 0) yield* folderSessions(entry.path, isResumable, depth + 1, walker);
      continue;
    }
    const stem = stemOf(entry.name);
    if (stem === null) continue;
    const sidecar = `${stem}-session.json`;
    const facts = names.has(sidecar) ? readSidecar(join(folder, sidecar), walker) : {};
    yield { ...specOf(entry.path, stem), hints: { isAgent: false, parent: null, isResumable, ...facts } };
  }
}

function* agentSessions(session: Entry, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(join(session.path, 'subagents'));
  const names = fileNames(entries);
  for (const { name, path, type } of entries) {
    const stem = stemOf(name);
    if (type !== 'file' || stem === null || !stem.startsWith('agent-')) continue;
    const meta = `${stem}.meta.json`;
    yield {
      ...specOf(path, stem),
      hints: { isAgent: true, parent: session.name },
      sidecars: names.has(meta) ? { meta: join(session.path, 'subagents', meta) } : {},
    };
  }
}

const specOf = (path: string, stem: string): SourceSpec => ({
  storeKind: SESSION_STORE,
  path,
  identity: path,
  name: stem,
  hints: {},
  sidecars: {},
});

const MAX_SIDECAR = 1024 * 1024;

/** What the file beside a session of a desktop program says of it. */
function readSidecar(path: string, walker: Walker): SourceSpec['hints'] {
  const bytes = walker.read(path, MAX_SIDECAR);
  const facts = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (facts === null) {
    walker.passBy(path, 'malformed_json', 'says nothing of the session; title and parent are not told by it');
    return {};
  }
  return {
    title: nameField(facts, 'title'),
    parentSession: nameField(facts, 'parent_session_id'),
    forkFrom: nameField(facts, 'fork_from'),
    cwd: nameField(facts, 'working_dir'),
  };
}

const stemOf = (name: string): string | null => /^(.+)\.jsonl$/.exec(name)?.[1] ?? null;

const fileNames = (entries: readonly Entry[]): ReadonlySet<string> =>
  new Set(entries.filter((entry) => entry.type === 'file').map((entry) => entry.name));

/** In a path a folder's name is followed by a separator, which sorts after `.` and `-`. */
function inPathOrder(entries: readonly Entry[]): Entry[] {
  const key = (entry: Entry): string => (entry.type === 'folder' ? `${entry.name}/` : entry.name);
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

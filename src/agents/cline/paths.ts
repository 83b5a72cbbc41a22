/** Where Cline keeps its sessions. */
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, type Json, nameField, objectField, parseOrUndefined } from '../dialects/json.ts';
import { extensionRoots, type TaskStore, taskSources } from '../dialects/task-rows/sources.ts';

export const TASK_STORE = 'cline-task';
export const SESSION_STORE = 'cline-session';

export const EXTENSION = 'saoudrizwan.claude-dev';

/** The folder of sessions by the first variable that is set; a sandbox has its own; tasks of other hosts beside it. */
export function roots(environment: AgentEnvironment): RootCandidate[] {
  const { env, home } = environment;
  const value = (name: string): string => env[name]?.trim() ?? '';
  const dir = value('CLINE_DIR') === '' ? join(home, '.cline') : value('CLINE_DIR');
  const data = value('CLINE_DATA_DIR') === '' ? join(dir, 'data') : value('CLINE_DATA_DIR');
  const reason = ['CLINE_DATA_DIR', 'CLINE_DIR'].find((name) => value(name) !== '');
  const found: RootCandidate[] = [];
  if (value('CLINE_SESSION_DATA_DIR') !== '')
    found.push({ path: value('CLINE_SESSION_DATA_DIR'), reason: 'env CLINE_SESSION_DATA_DIR' });
  if (value('CLINE_SANDBOX') === '1') {
    const sandbox =
      value('CLINE_SANDBOX_DATA_DIR') === '' ? join(tmpdir(), 'cline-sandbox') : value('CLINE_SANDBOX_DATA_DIR');
    found.push({ path: join(sandbox, 'sessions'), reason: 'env CLINE_SANDBOX' });
  }
  found.push({ path: data, reason: reason === undefined ? 'default' : `env ${reason}` });
  return [...found, ...extensionRoots(environment, EXTENSION)];
}

const tasks: TaskStore = {
  storeKind: TASK_STORE,
  extension: EXTENSION,
  index: join('state', 'taskHistory.json'),
  oldRows: ['claude_messages.json'],
  hints: (item) => ({
    title: item === null ? null : nameField(item, 'task'),
    cwd: item === null ? null : nameField(item, 'cwdOnTaskInitialization'),
  }),
};

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  yield* taskSources(root, walker, tasks);
  if (basename(root) === 'profiles') return;
  for (const folder of [join(root, 'sessions'), root]) {
    for (const session of walker.list(folder))
      if (session.type === 'folder') yield* sessionsIn(session.path, session.name, walker);
  }
}

const SUFFIX = '.messages.json';
const MAX_MANIFEST = 4 * 1024 * 1024;

/** A session's folder holds its own messages, and those of its subagents and team tasks. */
function* sessionsIn(folder: string, id: string, walker: Walker): Iterable<SourceSpec> {
  const manifest = join(folder, `${id}.json`);
  const bytes = walker.isFile(manifest) ? walker.read(manifest, MAX_MANIFEST) : null;
  const facts = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && facts === null)
    walker.passBy(manifest, 'malformed_json', 'is no manifest; title, folder and model are not told by it');
  for (const { name, path, type } of walker.list(folder)) {
    if (type !== 'file' || !name.endsWith(SUFFIX)) continue;
    const stem = name.slice(0, -SUFFIX.length);
    const isRoot = stem === id;
    yield {
      storeKind: SESSION_STORE,
      path,
      identity: path,
      name: isRoot ? id : `${id}__${stem}`,
      hints: { ...manifestHints(facts, isRoot), root: id, isRoot },
      sidecars: {},
    };
  }
}

function manifestHints(manifest: Json | null, isRoot: boolean): Record<string, string | null> {
  const text = (key: string): string | null => (manifest === null ? null : nameField(manifest, key));
  const metadata = manifest === null ? null : objectField(manifest, 'metadata');
  const inMetadata = (key: string, name: string): string | null => {
    const object = metadata === null ? null : objectField(metadata, key);
    return object === null ? null : nameField(object, name);
  };
  const cwd = text('cwd') ?? text('workspace_root');
  if (!isRoot) return { cwd };
  return {
    cwd,
    title: metadata === null ? null : nameField(metadata, 'title'),
    model: text('model'),
    origin: text('source'),
    forkOf: inMetadata('fork', 'forkedFromSessionId'),
    branch: inMetadata('git', 'branch'),
    version: inMetadata('sessionHistoryOrigin', 'version'),
    startedAt: text('started_at'),
  };
}

/** A task that was gone on with in the later form has there all that it had, under the same id. */
export function choose(sources: readonly SourceSpec[]): readonly SourceSpec[] {
  const migrated = new Set(sources.filter(({ storeKind }) => storeKind === SESSION_STORE).map(({ name }) => name));
  return sources.filter(({ storeKind, name }) => storeKind !== TASK_STORE || !migrated.has(name));
}

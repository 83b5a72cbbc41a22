/** Where Kiro IDE keeps its sessions. */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { AgentEnvironment, Entry, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, field, type Json, nameField, parseOrUndefined } from '../dialects/json.ts';
import { configHome } from '../dialects/vscode.ts';

export const EXECUTION_STORE = 'kiro-ide-chat';
export const SPINE_STORE = 'kiro-ide-spine';
export const JOURNAL_STORE = 'kiro-ide-jsonl';

const AGENT_FOLDER = 'kiro.kiroagent';
const SPINES = 'workspace-sessions';
/** Folders of the extension that are no workspaces. */
const OTHER_FOLDERS = new Set(['default', 'dev_data', 'index', SPINES]);
/** The folder below a workspace's in which any file may be an execution; elsewhere they have no extension. */
const EXECUTIONS = '414d1636299d2b9e4ce7e17fb11f63e9';
const MAX_LIST = 64 * 1024 * 1024;
const HEAD = 1024;

/** Names under which a spine's sidecars are handed to its decoder. */
export const executionSidecar = (id: string): string => `execution ${id}`;

export function roots(environment: AgentEnvironment): RootCandidate[] {
  const { env, home } = environment;
  const below = ['User', 'globalStorage', AGENT_FOLDER];
  const named = env['KIRO_HOME']?.trim() ?? '';
  return [
    { path: join(configHome(environment), 'Kiro', ...below), reason: 'default' },
    { path: join(home, '.kiro-server', 'data', ...below), reason: 'remote host' },
    named === '' ? { path: join(home, '.kiro'), reason: 'default' } : { path: named, reason: 'env KIRO_HOME' },
  ];
}

/** A root is the extension's folder, or the Kiro home (or its folder of sessions). */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  yield* journals(basename(root) === 'sessions' ? root : join(root, 'sessions'), walker);
  if (basename(root) === AGENT_FOLDER || walker.isFolder(join(root, SPINES)) || hasWorkspaces(root, walker))
    yield* extensionSources(root, walker);
}

const isHidden = ({ name }: Entry): boolean => name.startsWith('.');
const foldersIn = (path: string, walker: Walker): Entry[] =>
  walker.list(path).filter((entry) => entry.type === 'folder' && !isHidden(entry));
const filesIn = (path: string, walker: Walker): Entry[] =>
  walker.list(path).filter((entry) => entry.type === 'file' && !isHidden(entry));

const hasWorkspaces = (root: string, walker: Walker): boolean =>
  foldersIn(root, walker).some(({ name }) => /^[0-9a-f]{32}$/.test(name));

/** The folder `cli` there is that of Kiro CLI. */
function* journals(sessions: string, walker: Walker): Iterable<SourceSpec> {
  for (const workspace of foldersIn(sessions, walker)) {
    if (workspace.name === 'cli') continue;
    for (const { name, path: folder } of foldersIn(workspace.path, walker)) {
      const path = join(folder, 'messages.jsonl');
      if (!name.startsWith('sess_') || !walker.isFile(path)) continue;
      const sidecars = { session: join(folder, 'session.json') };
      yield { storeKind: JOURNAL_STORE, path, identity: path, name, hints: {}, sidecars };
    }
  }
}

function* extensionSources(root: string, walker: Walker): Iterable<SourceSpec> {
  const workspaces = foldersIn(root, walker).filter(({ name }) => !OTHER_FOLDERS.has(name));
  const listed = foldersIn(join(root, SPINES), walker).map((folder) => ({
    folder,
    sessions: listedSessions(join(folder.path, 'sessions.json'), walker),
  }));
  const paths = new Map(
    listed.flatMap(({ folder, sessions }) =>
      [pathInName(folder.name), ...[...sessions.values()].map(directoryOf)]
        .filter((path) => path !== null)
        .map((path) => [hashOf(path), path] as const),
    ),
  );
  for (const { name: workspace, path: folder } of workspaces) {
    for (const { name, path } of filesIn(folder, walker)) {
      const stem = /^(.+)\.chat$/.exec(name)?.[1];
      if (stem === undefined) continue;
      const hints = { cwd: paths.get(workspace) ?? null };
      yield { storeKind: EXECUTION_STORE, path, identity: path, name: `${workspace}:${stem}`, hints, sidecars: {} };
    }
  }
  const executions = executionFiles(workspaces, walker);
  for (const { folder, sessions } of listed) {
    for (const { name, path } of filesIn(folder.path, walker)) {
      const stem = /^(.+)\.json$/.exec(name)?.[1];
      if (stem === undefined || name === 'sessions.json') continue;
      const entry = sessions.get(stem);
      yield {
        storeKind: SPINE_STORE,
        path,
        identity: path,
        name: stem,
        hints: {
          title: entry === undefined ? null : nameField(entry, 'title'),
          cwd: entry === undefined ? null : directoryOf(entry),
        },
        sidecars: executions.size === 0 ? {} : executionsOf(path, executions, walker),
      };
    }
  }
}

const hashOf = (path: string): string => createHash('sha256').update(path).digest('hex').slice(0, 32);

const directoryOf = (session: Json): string | null => nameField(session, 'workspaceDirectory');

/** The path in base64url that names a folder of spines. It only ever counts where its hash is a workspace's. */
const pathInName = (name: string): string => Buffer.from(name.replace(/[=_]+$/, ''), 'base64url').toString('utf8');

function listedSessions(path: string, walker: Walker): ReadonlyMap<string, Json> {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_LIST) : null;
  const list = bytes === null ? [] : parseOrUndefined(bytes.toString('utf8'));
  if (!Array.isArray(list)) {
    walker.passBy(path, 'malformed_json', 'is no list of sessions; titles and folders are not told by it');
    return new Map();
  }
  return new Map(
    list
      .map(asObject)
      .filter((session) => session !== null)
      .flatMap((session) => {
        const id = nameField(session, 'sessionId');
        return id === null ? [] : [[id, session] as const];
      }),
  );
}

/** Files of executions by id; the first one in path order counts. */
function executionFiles(workspaces: readonly Entry[], walker: Walker): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const workspace of workspaces) {
    for (const folder of foldersIn(workspace.path, walker)) {
      if (OTHER_FOLDERS.has(folder.name)) continue;
      for (const { name, path } of filesIn(folder.path, walker)) {
        const id = folder.name === EXECUTIONS || !name.includes('.') ? executionId(path, walker) : null;
        if (id !== null && !found.has(id)) found.set(id, path);
      }
    }
  }
  return found;
}

/** Id of the execution in a file; null for what is none, like the index (a list of executions). */
function executionId(path: string, walker: Walker): string | null {
  const head = walker.head(path, HEAD)?.toString('utf8') ?? '';
  // Mostly the first member: files of megabytes need not be read for it.
  const first = /^\uFEFF?\s*\{\s*"executionId"\s*:\s*"([^"\\]+)"/.exec(head)?.[1];
  if (first !== undefined) return first;
  if (!/^\uFEFF?\s*\{/.test(head) || /^\uFEFF?\s*\{\s*"executions"\s*:/.test(head)) return null;
  const execution = asObject(parseOrUndefined(walker.read(path, MAX_LIST)?.toString('utf8') ?? ''));
  return execution === null || Array.isArray(field(execution, 'executions'))
    ? null
    : nameField(execution, 'executionId');
}

/** The executions that a spine points to: it changes when one of them does. */
function executionsOf(
  spine: string,
  executions: ReadonlyMap<string, string>,
  walker: Walker,
): Readonly<Record<string, string>> {
  const text = walker.read(spine, MAX_LIST)?.toString('utf8') ?? '';
  const sidecars: Record<string, string> = {};
  for (const [, id] of text.matchAll(/"executionId"\s*:\s*"([^"\\]+)"/g)) {
    const path = executions.get(id!);
    if (path !== undefined) sidecars[executionSidecar(id!)] = path;
  }
  return sidecars;
}

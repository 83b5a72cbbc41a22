/** Where OpenCode keeps its sessions. */
import { isAbsolute, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listSessions, schema } from './sessions.ts';

export const TREE_STORE = 'opencode-tree';
export const DATABASE_STORE = 'opencode-database';

/**
 * The same folder on every platform (Windows too). `OPENCODE_DB` names a database: an absolute path, or one below the
 * folder; `:memory:` is none.
 */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const dataHome = env['XDG_DATA_HOME']?.trim() ?? '';
  const folder = join(dataHome === '' ? join(home, '.local', 'share') : dataHome, 'opencode');
  const named = env['OPENCODE_DB']?.trim() ?? '';
  const found: RootCandidate[] = [{ path: folder, reason: dataHome === '' ? 'default' : 'env XDG_DATA_HOME' }];
  if (named !== '' && named !== ':memory:') {
    const path = isAbsolute(named) ? named : join(folder, named);
    found.unshift({ path, reason: 'env OPENCODE_DB', isFile: true });
  }
  return found;
}

/** What products of this family call their databases and session folders. */
export interface TreeLayout {
  readonly databases: RegExp;
  /** Folder below `storage/` that holds session files. */
  readonly sessions: string;
  readonly storeKinds: { readonly tree: string; readonly database: string };
}

export const layout: TreeLayout = {
  databases: /^opencode(?:-[A-Za-z0-9._-]+)?\.db$/,
  sessions: 'session',
  storeKinds: { tree: TREE_STORE, database: DATABASE_STORE },
};

export const discover = (root: string, walker: Walker): Iterable<SourceSpec> => discoverStore(root, walker, layout);

/**
 * Sessions of all databases of the folder, then those of the file tree that are in no database: the vendor's import
 * left the files where they were, and skipped some.
 */
export function* discoverStore(
  root: string,
  walker: Walker,
  { databases, sessions, storeKinds }: TreeLayout,
): Iterable<SourceSpec> {
  const isDatabase = walker.isFile(root);
  const paths = isDatabase
    ? [root]
    : walker
        .list(root)
        .filter(({ name, type }) => type === 'file' && databases.test(name))
        .map(({ path }) => path);
  const best = new Map<string, SourceSpec>();
  for (const path of paths) {
    for (const spec of databaseSources(walker, { storeKind: storeKinds.database, path, schema }, listSessions)) {
      if (spec.member === undefined) {
        yield spec;
        continue;
      }
      // A session that two channels hold is told by the one that wrote to it last.
      const other = best.get(spec.member);
      if (other === undefined || Number(spec.hints['updated']) > Number(other.hints['updated']))
        best.set(spec.member, spec);
    }
  }
  yield* best.values();
  if (isDatabase) return;
  const known = new Set(best.keys());
  yield* treeSessions(join(root, 'storage'), sessions, storeKinds.tree, known, walker);
  for (const project of walker.list(join(root, 'project'))) {
    if (project.type === 'folder')
      yield* oldTreeSessions(join(project.path, 'storage', 'session'), storeKinds.tree, known, walker);
  }
}

const stemOf = (name: string): string | null =>
  name.endsWith('.json') && !name.startsWith('.') && name.length > '.json'.length
    ? name.slice(0, -'.json'.length)
    : null;

/** `session/<project>/<id>.json`, `message/<id>/<message>.json`, `part/<message>/<part>.json`. */
function* treeSessions(
  storage: string,
  folder: string,
  storeKind: string,
  known: Set<string>,
  walker: Walker,
): Iterable<SourceSpec> {
  for (const project of walker.list(join(storage, folder))) {
    if (project.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(project.path)) {
      const id = stemOf(name);
      if (type !== 'file' || id === null || known.has(id)) continue;
      known.add(id);
      const messages = join(storage, 'message', id);
      const parts = walker
        .list(messages)
        .map((message) => stemOf(message.name))
        .filter((message) => message !== null)
        .map((message) => join(storage, 'part', message));
      yield sessionTree(
        { storeKind, id, path, project: project.name, messages, parts: join(storage, 'part') },
        [path, messages, ...parts],
        walker,
      );
    }
  }
}

/** The layout before: `session/{info,message,part}` in a folder a project; parts lie below their session. */
function* oldTreeSessions(
  session: string,
  storeKind: string,
  known: Set<string>,
  walker: Walker,
): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(join(session, 'info'))) {
    const id = stemOf(name);
    if (type !== 'file' || id === null || known.has(id)) continue;
    known.add(id);
    const messages = join(session, 'message', id);
    const parts = join(session, 'part', id);
    yield sessionTree({ storeKind, id, path, project: session, messages, parts }, [path, messages, parts], walker);
  }
}

interface TreePlace {
  readonly storeKind: string;
  readonly id: string;
  readonly path: string;
  readonly project: string;
  /** Folder of the session's message files. */
  readonly messages: string;
  /** Folder that holds a folder of parts for each message. */
  readonly parts: string;
}

function sessionTree(
  { storeKind, id, path, project, messages, parts }: TreePlace,
  all: readonly string[],
  walker: Walker,
): SourceSpec {
  const { bytes, state } = walker.tree(all);
  return { storeKind, path, identity: path, name: id, hints: { project, messages, parts }, sidecars: {}, state, bytes };
}

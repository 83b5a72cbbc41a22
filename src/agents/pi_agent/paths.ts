/** Where pi keeps its sessions. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';

export const SESSION_STORE = 'pi-jsonl';
/** Stores of a port of pi that are recognised, and not read. */
export const OTHER_STORE = 'pi-port';

export const expanded = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;

/** All folders that a variable or the default names: the writer takes the first, readers look into each. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => expanded(env[name]?.trim() ?? '', home);
  const found: RootCandidate[] = [];
  const add = (path: string, reason: string): void => {
    if (!found.some((other) => other.path === path)) found.push({ path, reason });
  };
  for (const name of ['PI_CODING_AGENT_SESSION_DIR', 'PI_SESSIONS_DIR']) {
    if (value(name) !== '') add(value(name), `env ${name}`);
  }
  const agent = value('PI_CODING_AGENT_DIR');
  if (agent !== '') add(join(agent, 'sessions'), 'env PI_CODING_AGENT_DIR');
  else add(join(home, '.pi', 'agent', 'sessions'), 'default');
  return found;
}

/** Folders below sessions that belong to other stores. */
const FOREIGN = new Set(['durable-sessions', 'experimental']);
const MAX_DEPTH = 6;

/** Session files at any depth: with a folder of one's own there is none for each working directory. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  yield* sessionsBelow(root, walker, 0);
}

function* sessionsBelow(folder: string, walker: Walker, depth: number): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(folder)) {
    if (type === 'folder') {
      if (name.endsWith('.v2')) yield portStore(path, name);
      else if (depth < MAX_DEPTH && !FOREIGN.has(name)) yield* sessionsBelow(path, walker, depth + 1);
    } else if (name.endsWith('.jsonl')) {
      yield sessionFile(SESSION_STORE, path, {});
    } else if (/_.*\.sqlite$/.test(name)) yield portStore(path, name);
  }
}

/** A session file that stands for itself. */
export const sessionFile = (storeKind: string, path: string, hints: SourceSpec['hints']): SourceSpec => ({
  storeKind,
  path,
  identity: path,
  name: basename(path, '.jsonl'),
  hints,
  sidecars: {},
});

const portStore = (path: string, name: string): SourceSpec => ({
  storeKind: OTHER_STORE,
  path,
  identity: path,
  name,
  hints: {},
  sidecars: {},
  state: 'unsupported',
  bytes: 0,
  fault: {
    status: 'unsupported',
    code: 'unsupported_store',
    message: 'is a store of the Rust port of pi, which is not read',
  },
});

/** The session id in a file's name: what follows its first `_`; null where there is none. */
export const idOfName = (path: string): string | null =>
  /^[^_]*_(.+?)(?:\.jsonl)?$/.exec(basename(path.replaceAll('\\', '/')))?.[1] ?? null;

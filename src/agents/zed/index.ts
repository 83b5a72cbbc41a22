/** Zed: threads of its own agent in a database, a compressed document each. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listThreads, schema } from './threads.ts';

const DATABASE_STORE = 'zed-threads';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

function roots({ env, home, platform }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => env[name]?.trim() ?? '';
  if (platform === 'darwin') return [{ path: join(home, 'Library', 'Application Support', 'Zed'), reason: 'default' }];
  if (platform === 'win32')
    return [{ path: join(value('LOCALAPPDATA') || join(home, 'AppData', 'Local'), 'Zed'), reason: 'default' }];
  const xdg = value('XDG_DATA_HOME');
  return [
    { path: join(xdg || join(home, '.local', 'share'), 'zed'), reason: xdg === '' ? 'default' : 'env XDG_DATA_HOME' },
    { path: join(home, '.var', 'app', 'dev.zed.Zed', 'data', 'zed'), reason: 'Flatpak' },
  ];
}

/** A root is the data folder, or the folder of threads in it. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const path of [join(root, 'threads', 'threads.db'), join(root, 'threads.db')])
    if (walker.isFile(path)) yield* databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listThreads);
}

export const zed: AgentDefinition = {
  slug: 'zed',
  name: 'Zed',
  aliases: ['zed-agent', 'zed-editor'],
  evidence: 'writer',
  usage: 'session_total',
  stores: 'threads/threads.db',
  resume: null,
  roots,
  discover,
  formats: { [DATABASE_STORE]: database },
};

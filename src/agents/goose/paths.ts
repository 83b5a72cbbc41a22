/** Where Goose keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listSessions, schema } from './sessions.ts';

export const DATABASE_STORE = 'goose-database';
export const LEGACY_STORE = 'goose-jsonl';

/** Data folders: the one a variable names, else those of the platform with what older installs used. */
export function roots({ env, home, platform }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => env[name]?.trim() ?? '';
  if (value('GOOSE_PATH_ROOT') !== '')
    return [{ path: join(value('GOOSE_PATH_ROOT'), 'data'), reason: 'env GOOSE_PATH_ROOT' }];
  if (platform === 'win32') {
    const roaming = value('APPDATA') || join(home, 'AppData', 'Roaming');
    return [{ path: join(roaming, 'Block', 'goose', 'data'), reason: 'default' }];
  }
  const xdg = value('XDG_DATA_HOME');
  const share = xdg === '' ? join(home, '.local', 'share') : xdg;
  return [
    { path: join(share, 'goose'), reason: xdg === '' ? 'default' : 'env XDG_DATA_HOME' },
    { path: join(share, 'Block', 'goose'), reason: 'older installs' },
    { path: join(home, 'Library', 'Application Support', 'goose'), reason: 'older installs' },
  ];
}

/** The database's sessions, then files of those that it does not hold: its import left the files where they were. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const folder = join(root, 'sessions');
  const path = join(folder, 'sessions.db');
  const known = new Set<string>();
  if (walker.isFile(path)) {
    for (const spec of databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listSessions)) {
      if (spec.member !== undefined) known.add(spec.member);
      yield spec;
    }
  }
  for (const { name, path: file, type } of walker.list(folder)) {
    const stem = /^(.+)\.jsonl$/.exec(name)?.[1];
    if (type !== 'file' || stem === undefined || known.has(stem)) continue;
    yield { storeKind: LEGACY_STORE, path: file, identity: file, name: stem, hints: {}, sidecars: {} };
  }
}

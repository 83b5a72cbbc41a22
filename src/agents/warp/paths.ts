/** Where Warp keeps its database. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listConversations, schema } from './conversations.ts';

export const DATABASE_STORE = 'warp-database';

/** Folders of the builds, by the rule of the platform for their names. */
export function roots({ env, home, platform }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => env[name]?.trim() ?? '';
  if (platform === 'darwin') {
    const support = join('Library', 'Application Support');
    const group = join(home, 'Library', 'Group Containers', '2BBY89MBSN.dev.warp', support);
    return [
      { path: join(group, 'dev.warp.Warp-Stable'), reason: 'default' },
      { path: join(group, 'dev.warp.Warp-Preview'), reason: 'Preview' },
      { path: join(home, support, 'dev.warp.Warp-Stable'), reason: 'older installs' },
      { path: join(home, support, 'dev.warp.WarpOss'), reason: 'open-source build' },
      { path: join(home, support, 'dev.warp.WarpTui'), reason: 'open-source build in a terminal' },
    ];
  }
  if (platform === 'win32') {
    const local = join(value('LOCALAPPDATA') || join(home, 'AppData', 'Local'), 'warp');
    return [
      { path: join(local, 'Warp', 'data'), reason: 'default' },
      { path: join(local, 'WarpOss', 'data'), reason: 'open-source build' },
      { path: join(local, 'WarpTui', 'data'), reason: 'open-source build in a terminal' },
    ];
  }
  const xdg = value('XDG_STATE_HOME');
  const state = xdg === '' ? join(home, '.local', 'state') : xdg;
  const from = xdg === '' ? 'default' : 'env XDG_STATE_HOME';
  return [
    { path: join(state, 'warp-terminal'), reason: from },
    { path: join(state, 'warp-terminal-preview'), reason: `${from}, Preview` },
    { path: join(state, 'warp-oss'), reason: `${from}, open-source build` },
    { path: join(state, 'warp-tui'), reason: `${from}, open-source build in a terminal` },
  ];
}

/** The application's database, and that of its form without windows. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const path of [join(root, 'warp.sqlite'), join(root, 'tui', 'warp.sqlite')])
    if (walker.isFile(path))
      yield* databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listConversations);
}

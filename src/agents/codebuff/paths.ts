/** Where Codebuff keeps its chats. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';

export const CHAT_STORE = 'codebuff-chat';
export const LEGACY_STORE = 'codebuff-messages';

/** Channels of the product. The vendor has no variable: these are those of other readers, comma lists. */
const FOLDERS = ['manicode', 'manicode-dev', 'manicode-staging', 'manicode-test', 'manicode-prod'];

export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = ['CODEBUFF_DATA_DIR', 'MANICODE_DATA_DIR'].flatMap((name) =>
    (env[name] ?? '')
      .split(',')
      .map((path) => path.trim())
      .filter((path) => path !== '')
      .map((path) => ({ path, reason: `env ${name}` })),
  );
  if (named.length > 0) return named;
  return FOLDERS.map((folder) => ({ path: join(home, '.config', folder), reason: 'default' }));
}

/** A chat's folder is named by its start; the project's folder is only the last part of a path, which is not told. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const project of walker.list(join(root, 'projects'))) {
    if (project.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(join(project.path, 'chats'))) {
      if (type !== 'folder') continue;
      const current = join(path, 'chat-messages.json');
      const isCurrent = walker.isFile(current);
      const file = isCurrent ? current : join(path, 'messages.json');
      if (!isCurrent && !walker.isFile(file)) continue;
      const state = join(path, 'run-state.json');
      yield {
        storeKind: isCurrent ? CHAT_STORE : LEGACY_STORE,
        path: file,
        identity: file,
        name,
        hints: {},
        sidecars: walker.isFile(state) ? { state } : {},
      };
    }
  }
}

/** Where Amp keeps its threads. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { userFolders } from '../dialects/vscode.ts';

export const THREAD_STORE = 'amp-thread';

export function roots(environment: AgentEnvironment): RootCandidate[] {
  const { env, home } = environment;
  const xdg = env['XDG_DATA_HOME']?.trim() ?? '';
  const data = join(xdg === '' ? join(home, '.local', 'share') : xdg, 'amp');
  return [
    { path: data, reason: xdg === '' ? 'default' : 'env XDG_DATA_HOME' },
    ...userFolders(environment).map(({ path, reason }) => ({
      path: join(path, 'globalStorage', 'sourcegraph.amp'),
      reason,
    })),
  ];
}

const FOLDERS = ['threads', 'threads-development', 'threads3'];

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  // The folder of threads itself may be named.
  const folders = FOLDERS.includes(basename(root)) ? [root] : FOLDERS.map((name) => join(root, name));
  for (const folder of folders) {
    for (const { name, path, type } of walker.list(folder)) {
      // `<name>.json.amptmp` is half of a file that is being replaced.
      if (type !== 'file' || !name.endsWith('.json')) continue;
      const stem = name.slice(0, -'.json'.length);
      yield { storeKind: THREAD_STORE, path, identity: path, name: stem, hints: {}, sidecars: {} };
    }
  }
}

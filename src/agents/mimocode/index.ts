/** MiMo Code: made of OpenCode, with its database and file tree. */
import { join } from 'node:path';
import type { AgentDefinition, SourceSpec, Walker } from '../agent.ts';
import { storeFormats } from '../opencode/formats.ts';
import { discoverStore, type TreeLayout } from '../opencode/paths.ts';

const layout: TreeLayout = {
  databases: /^mimocode(?:-[A-Za-z0-9._-]+)?\.db$/,
  // OpenCode keeps a cache under this name: here it holds the sessions.
  sessions: 'session_diff',
  storeKinds: { tree: 'mimocode-tree', database: 'mimocode-database' },
};

const discover = (root: string, walker: Walker): Iterable<SourceSpec> => discoverStore(root, walker, layout);

export const mimocode: AgentDefinition = {
  slug: 'mimocode',
  name: 'MiMo Code',
  aliases: ['mimo', 'mimo-code'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'mimocode.db; the file tree below storage/',
  resume: null,
  roots: ({ env, home }) => {
    const xdg = env['XDG_DATA_HOME']?.trim() ?? '';
    const share = xdg === '' ? join(home, '.local', 'share') : xdg;
    return [{ path: join(share, 'mimocode'), reason: xdg === '' ? 'default' : 'env XDG_DATA_HOME' }];
  },
  discover,
  formats: storeFormats(layout, () => import('./format.ts')),
};

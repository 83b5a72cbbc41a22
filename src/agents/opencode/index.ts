/** OpenCode: the flat file tree of 2025, the SQLite store of 1.2 to 1.18, and that of 2.x. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { DATABASE_STORE, discover, roots, TREE_STORE } from './paths.ts';

const tree: StoreFormat = {
  framing: 'folder',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).treeCode,
};

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

export const opencode: AgentDefinition = {
  slug: 'opencode',
  name: 'OpenCode',
  aliases: ['open-code', 'open_code', 'sst-opencode'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'opencode.db and opencode-<channel>.db (session tables of 1.x and 2.x); the file tree below storage/',
  resume: 'opencode --session <id>',
  roots,
  discover,
  formats: { [TREE_STORE]: tree, [DATABASE_STORE]: database },
};

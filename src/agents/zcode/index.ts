/** ZCode: made of OpenCode, with an order and a ledger of its own. */
import { join } from 'node:path';
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listSessions, schema } from './sessions.ts';

const DATABASE_STORE = 'zcode-database';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  replacesUsage: true,
  load: async () => (await import('./format.ts')).databaseCode,
};

export const zcode: AgentDefinition = {
  slug: 'zcode',
  name: 'ZCode',
  aliases: ['z-code'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'cli/db/db.sqlite: sessions, messages, parts and the ledger of requests',
  resume: null,
  roots: ({ home }) => [{ path: join(home, '.zcode'), reason: 'default' }],
  *discover(root, walker) {
    const path = join(root, 'cli', 'db', 'db.sqlite');
    if (walker.isFile(path)) yield* databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listSessions);
  },
  formats: { [DATABASE_STORE]: database },
};

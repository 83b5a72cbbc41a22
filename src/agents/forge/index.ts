/** ForgeCode: a database with one JSON value a conversation. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listConversations, schema } from './conversations.ts';

const DATABASE_STORE = 'forge-sqlite';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['FORGE_CONFIG']?.trim() ?? '';
  if (named !== '') return [{ path: named, reason: 'env FORGE_CONFIG' }];
  const former = join(home, 'forge');
  // The former folder is used as long as it is there.
  return [
    { path: former, reason: 'former default' },
    { path: join(home, '.forge'), reason: 'default', unless: former },
  ];
}

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const path = join(root, '.forge.db');
  if (walker.isFile(path))
    yield* databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listConversations);
}

export const forge: AgentDefinition = {
  slug: 'forge',
  name: 'ForgeCode',
  aliases: ['forgecode', 'forge-code'],
  evidence: 'writer',
  usage: 'session_total',
  stores: '.forge.db',
  resume: 'forge conversation resume <id>',
  roots,
  discover,
  formats: { [DATABASE_STORE]: database },
};

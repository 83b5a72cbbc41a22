/** Shelley: a server's database of conversations. */
import { basename, join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listConversations, schema } from './conversations.ts';

const DATABASE_STORE = 'shelley-database';
const USUAL_NAME = 'shelley.db';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

/** The server takes the path as an argument, and else writes to the folder that it is started in. */
const roots = ({ home }: AgentEnvironment): RootCandidate[] => [
  { path: join(home, '.config', 'shelley'), reason: 'exe.dev machines' },
  { path: join(home, USUAL_NAME), reason: 'started in the home folder', isFile: true },
];

/** Databases are known by their tables: their name is anybody's choice, but the usual one and one that was named are Shelley's. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const files = walker.isFile(root)
    ? [root]
    : walker
        .list(root)
        .filter(({ name, type }) => type === 'file' && name.endsWith('.db'))
        .map(({ path }) => path);
  for (const path of files) {
    const specs = databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listConversations);
    const isOwn = path === root || basename(path) === USUAL_NAME;
    // Another program's database, or a file that only ends like one.
    const isOther = !isOwn && ['foreign_schema', 'not_a_database'].includes(specs[0]?.fault?.code ?? '');
    if (!isOther) yield* specs;
  }
}

export const shelley: AgentDefinition = {
  slug: 'shelley',
  name: 'Shelley',
  aliases: ['exe-shelley'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'shelley.db: conversations and messages',
  resume: null,
  roots,
  discover,
  formats: { [DATABASE_STORE]: database },
};

/** pi's experimental durable store: many conversations in a database, or in a log of commits. */
import { basename, join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { expanded } from '../pi_agent/paths.ts';
import { listConversations, schema } from './conversations.ts';

const DATABASE_STORE = 'pi-durable-sqlite';
const FILES_STORE = 'pi-durable-jsonl';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

const files: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).filesCode,
};

function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['PI_CODING_AGENT_DIR']?.trim() ?? '';
  const agent = named === '' ? join(home, '.pi', 'agent') : expanded(named, home);
  return [
    {
      path: join(agent, 'experimental', 'durable-sessions'),
      reason: named === '' ? 'default' : 'env PI_CODING_AGENT_DIR',
    },
  ];
}

/** A folder for each working directory, in it one for each store. */
const MAX_DEPTH = 4;

function* discover(root: string, walker: Walker, depth = 0): Iterable<SourceSpec> {
  const entries = walker.list(root);
  const folder = basename(root);
  for (const { name, path, type } of entries) {
    if (type === 'folder') {
      if (depth < MAX_DEPTH) yield* discover(path, walker, depth + 1);
    } else if (name === 'session.sqlite') {
      yield* databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, (opened) =>
        listConversations(opened, folder),
      );
    } else if (name === 'main.jsonl') {
      const documents = entries.filter((entry) => entry.type === 'file' && /^doc-[^/]+\.jsonl$/.test(entry.name));
      yield {
        storeKind: FILES_STORE,
        path,
        identity: path,
        name: folder,
        hints: {},
        sidecars: Object.fromEntries(documents.map((entry) => [entry.name, entry.path])),
      };
    }
  }
}

export const piDurable: AgentDefinition = {
  slug: 'pi_durable',
  name: 'pi (durable store)',
  aliases: ['pi-durable', 'pi-sqlite'],
  evidence: 'peer',
  usage: 'per_reply',
  stores:
    'experimental/durable-sessions/<cwd>/<time>-<id>/session.sqlite; main.jsonl with doc-<id>.jsonl in a folder that is named',
  resume: null,
  roots,
  discover: (root, walker) => discover(root, walker),
  formats: { [DATABASE_STORE]: database, [FILES_STORE]: files },
};

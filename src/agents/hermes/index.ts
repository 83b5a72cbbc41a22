/** Hermes Agent: a database of sessions, and files of those that it does not hold. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { DATABASE_STORE, discover, LOG_STORE, roots, SNAPSHOT_STORE } from './paths.ts';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  // A sum may be split by models later.
  replacesUsage: true,
  load: async () => (await import('./format.ts')).databaseCode,
};

const snapshot: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).snapshotCode,
};

const log: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).logCode,
};

export const hermes: AgentDefinition = {
  slug: 'hermes',
  name: 'Hermes Agent',
  aliases: ['hermes-agent', 'nous-hermes'],
  evidence: 'writer',
  usage: 'session_total',
  stores: 'state.db, also of profiles; sessions/<id>.jsonl and session_<id>.json that are not in it',
  resume: 'hermes --resume <id>',
  roots,
  discover,
  formats: { [DATABASE_STORE]: database, [SNAPSHOT_STORE]: snapshot, [LOG_STORE]: log },
};

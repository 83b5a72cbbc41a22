/** Goose: one database of sessions, and the JSONL files before it. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { DATABASE_STORE, discover, LEGACY_STORE, roots } from './paths.ts';

const database: StoreFormat = {
  framing: 'database',
  replacesUsage: true,
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

const legacy: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).legacyCode,
};

export const goose: AgentDefinition = {
  slug: 'goose',
  name: 'Goose',
  aliases: ['block-goose', 'goose-cli'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'sessions/sessions.db; sessions/<name>.jsonl that are not in it',
  resume: 'goose session --resume --session-id <id>',
  roots,
  discover,
  formats: { [DATABASE_STORE]: database, [LEGACY_STORE]: legacy },
};

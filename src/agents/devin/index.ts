/** Devin CLI: a database with a forest of messages a session, and exports beside it. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { DATABASE_STORE, discover, roots, TRANSCRIPT_STORE } from './paths.ts';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).databaseCode,
};

const transcript: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).transcriptCode,
};

export const devin: AgentDefinition = {
  slug: 'devin',
  name: 'Devin CLI',
  aliases: ['devin-cli', 'devin-desktop'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'cli/sessions.db; cli/transcripts/<id>.json of sessions that it does not hold',
  resume: 'devin --resume <id>',
  roots,
  discover,
  formats: { [DATABASE_STORE]: database, [TRANSCRIPT_STORE]: transcript },
};

/** Warp: conversations of its agent in the terminal's database. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { DATABASE_STORE, discover, roots } from './paths.ts';

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).databaseCode,
};

export const warp: AgentDefinition = {
  slug: 'warp',
  name: 'Warp',
  aliases: ['warp-terminal', 'oz'],
  evidence: 'writer',
  usage: 'none',
  stores: 'warp.sqlite: tasks of conversations; prompts of those without',
  resume: null,
  roots,
  discover,
  formats: { [DATABASE_STORE]: database },
};

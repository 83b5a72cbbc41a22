/** OpenClaw: a gateway's chats, as entries of pi in a database for each agent; in files before 2026.8. */
import type { AgentDefinition, FormatTraits, StoreFormat } from '../agent.ts';
import { COLD_STORE, DATABASE_STORE, discover, roots, SESSION_STORE } from './paths.ts';

const traits = { decoderVersion: 1, incremental: 'diff' } as const satisfies Partial<FormatTraits>;

const session: StoreFormat = {
  ...traits,
  framing: 'jsonl',
  load: async () => (await import('./format.ts')).sessionCode,
};

const database: StoreFormat = {
  ...traits,
  framing: 'database',
  load: async () => (await import('./format.ts')).databaseCode,
};

const cold: StoreFormat = {
  ...traits,
  framing: 'jsonl',
  load: async () => (await import('./format.ts')).coldCode,
};

export const openclaw: AgentDefinition = {
  slug: 'openclaw',
  name: 'OpenClaw',
  aliases: ['open-claw', 'moltbot'],
  evidence: 'writer',
  usage: 'per_reply',
  stores:
    'agents/<agent>/agent/openclaw-agent.sqlite; older: agents/<agent>/sessions/*.jsonl, reset and deleted ones too',
  resume: null,
  roots,
  discover,
  formats: { [SESSION_STORE]: session, [DATABASE_STORE]: database, [COLD_STORE]: cold },
};

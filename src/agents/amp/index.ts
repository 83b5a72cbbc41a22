/** Amp: one document a thread. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, roots, THREAD_STORE } from './paths.ts';

const thread: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  usageNeedsFamily: true,
  load: async () => (await import('./format.ts')).threadCode,
};

export const amp: AgentDefinition = {
  slug: 'amp',
  name: 'Amp',
  aliases: ['sourcegraph-amp', 'ampcode'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'threads/T-<id>.json; threads3 of the older editor extension',
  resume: 'amp threads continue <id>',
  roots,
  discover,
  formats: { [THREAD_STORE]: thread },
};

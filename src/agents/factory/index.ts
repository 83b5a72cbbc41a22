/** Factory Droid: transcripts with a sidecar of settings and totals. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { choose, discover, roots, SESSION_STORE } from './paths.ts';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  replacesUsage: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

export const factory: AgentDefinition = {
  slug: 'factory',
  name: 'Factory Droid',
  aliases: ['droid', 'factory-droid'],
  evidence: 'writer',
  usage: 'session_total',
  stores: 'sessions/<project>/<id>.jsonl with <id>.settings.json; flat files of old versions, sessions/btw',
  resume: 'droid --resume <id>',
  roots,
  discover,
  choose,
  formats: { [SESSION_STORE]: session },
};

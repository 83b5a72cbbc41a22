/** Continue: the IDE extensions and the `cn` command, which share a folder. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, roots, SESSION_STORE } from './paths.ts';

const session: StoreFormat = {
  framing: 'document',
  replacesUsage: true,
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode,
};

export const continueDev: AgentDefinition = {
  slug: 'continue',
  name: 'Continue',
  aliases: ['continue-dev', 'continue.dev', 'cn'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'sessions/<id>.json',
  resume: null,
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

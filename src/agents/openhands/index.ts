/** OpenHands: a folder of event files a conversation; of the former application too. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { CONVERSATION_STORE, discover, LEGACY_STORE, roots } from './paths.ts';

const conversation: StoreFormat = {
  framing: 'folder',
  replacesUsage: true,
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).conversationCode,
};

const legacy: StoreFormat = {
  framing: 'folder',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).legacyCode,
};

export const openhands: AgentDefinition = {
  slug: 'openhands',
  name: 'OpenHands',
  aliases: ['open-hands', 'opendevin'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'conversations/<id>/{base_state.json,events/}; former: sessions/<id>/events/',
  resume: 'openhands --resume <id>',
  roots,
  discover,
  formats: { [CONVERSATION_STORE]: conversation, [LEGACY_STORE]: legacy },
};

/** Codebuff and Freebuff: chats as the terminal shows them, a folder for each. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { CHAT_STORE, discover, LEGACY_STORE, roots } from './paths.ts';

const chat: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).chatCode,
};

const legacy: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).legacyCode,
};

export const codebuff: AgentDefinition = {
  slug: 'codebuff',
  name: 'Codebuff',
  aliases: ['freebuff', 'manicode'],
  evidence: 'writer',
  usage: 'none',
  stores: 'projects/<project>/chats/<start>/chat-messages.json; older: messages.json',
  resume: 'codebuff --continue <id>',
  roots,
  discover,
  formats: { [CHAT_STORE]: chat, [LEGACY_STORE]: legacy },
};

/** ChatGPT: exports of an account, and the plain cache of the desktop app. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { CONVERSATION_STORE, discover, roots } from './paths.ts';

const conversations: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).conversationCode,
};

export const chatgpt: AgentDefinition = {
  slug: 'chatgpt',
  name: 'ChatGPT',
  aliases: ['openai-chatgpt', 'chat-gpt'],
  evidence: 'peer',
  usage: 'none',
  stores: 'conversations.json and conversations-*.json of an unpacked export (`--root`); the desktop app’s plain cache',
  resume: null,
  roots,
  discover,
  formats: { [CONVERSATION_STORE]: conversations },
};

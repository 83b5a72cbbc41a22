/** gptme: a folder a conversation, with what edits and undos took out of it beside. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { CONVERSATION_STORE, discover, roots } from './paths.ts';

const conversation: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  // Branches are as large as the conversation.
  maxSidecar: 64 * 1024 * 1024,
  load: async () => (await import('./format.ts')).conversationCode,
};

export const gptme: AgentDefinition = {
  slug: 'gptme',
  name: 'gptme',
  aliases: [],
  evidence: 'writer',
  usage: 'per_reply',
  stores: '<id>/conversation.jsonl with branches/<name>.jsonl and config.toml',
  resume: 'gptme --name <id>',
  roots,
  discover,
  formats: { [CONVERSATION_STORE]: conversation },
};

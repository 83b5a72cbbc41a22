/** aider: a Markdown log of all runs in the folder of each project. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, HISTORY_STORE, roots } from './paths.ts';

const history: StoreFormat = {
  framing: 'text',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).historyCode,
};

export const aider: AgentDefinition = {
  slug: 'aider',
  name: 'aider',
  aliases: ['aider-chat'],
  evidence: 'writer',
  usage: 'none',
  stores: '.aider.chat.history.md of projects near the home folder, or below a root that is given',
  resume: 'aider --restore-chat-history',
  roots,
  discover,
  formats: { [HISTORY_STORE]: history },
};

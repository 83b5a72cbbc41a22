/** Grok Build, the terminal agent of xAI: a journal of what the screen was told, a folder a session. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { CHAT_STORE, discover, JOURNAL_STORE, roots } from './paths.ts';

const journal: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).journalCode,
};

const chat: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).chatCode,
};

export const grok: AgentDefinition = {
  slug: 'grok',
  name: 'Grok Build',
  aliases: ['grok-build', 'grok_build'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'sessions/<cwd>/<id>/updates.jsonl with summary.json; chat_history.jsonl where the journal says nothing',
  resume: 'grok --resume <id>',
  roots,
  discover,
  formats: { [JOURNAL_STORE]: journal, [CHAT_STORE]: chat },
};

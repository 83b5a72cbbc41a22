/** Cline: task folders of the VS Code extension, and the session folders of its later form. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { choose, discover, roots, SESSION_STORE, TASK_STORE } from './paths.ts';

const task: StoreFormat = {
  framing: 'folder',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).taskCode,
};

const session: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  usageNeedsFamily: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

export const cline: AgentDefinition = {
  slug: 'cline',
  name: 'Cline',
  aliases: ['claude-dev', 'saoudrizwan.claude-dev'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'data/sessions/<id>/*.messages.json; tasks/<id>/ of the extension in every editor',
  resume: 'cline --id <id>',
  roots,
  discover,
  choose,
  formats: { [TASK_STORE]: task, [SESSION_STORE]: session },
};

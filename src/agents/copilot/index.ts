/** GitHub Copilot Chat in VS Code and its kin. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { DATABASE_STORE, discover, LOG_STORE, roots, SNAPSHOT_STORE } from './paths.ts';

const traits = { decoderVersion: 1, incremental: 'diff', hasFamily: true, usageNeedsFamily: true } as const;

const log: StoreFormat = { ...traits, framing: 'jsonl', load: async () => (await import('./format.ts')).logCode };
const snapshot: StoreFormat = {
  ...traits,
  framing: 'document',
  load: async () => (await import('./format.ts')).snapshotCode,
};
const database: StoreFormat = {
  ...traits,
  framing: 'database',
  load: async () => (await import('./format.ts')).databaseCode,
};

export const copilot: AgentDefinition = {
  slug: 'copilot',
  name: 'GitHub Copilot Chat',
  aliases: ['copilot-chat', 'github-copilot', 'vscode-copilot'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'chatSessions of workspaces, sessions of empty windows; state.vscdb of early versions',
  resume: null,
  roots,
  discover,
  formats: { [LOG_STORE]: log, [SNAPSHOT_STORE]: snapshot, [DATABASE_STORE]: database },
};

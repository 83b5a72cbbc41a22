/** Gemini CLI: event logs, and the whole-file snapshots before them. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, LOG_STORE, OLD_COPY_STORE, roots, SNAPSHOT_STORE } from './paths.ts';

const traits = { decoderVersion: 1, incremental: 'diff' } as const;

const log: StoreFormat = { ...traits, framing: 'jsonl', load: async () => (await import('./format.ts')).logCode };
const snapshot: StoreFormat = {
  ...traits,
  framing: 'document',
  load: async () => (await import('./format.ts')).snapshotCode,
};
const oldCopy: StoreFormat = {
  ...traits,
  framing: 'document',
  load: async () => (await import('./format.ts')).oldCopyCode,
};

export const gemini: AgentDefinition = {
  slug: 'gemini',
  name: 'Gemini CLI',
  aliases: ['gemini-cli', 'gemini_cli'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'tmp/<project>/chats: event logs (.jsonl), snapshots (.json), subagents one folder deeper',
  resume: 'gemini --resume <id>',
  roots,
  discover,
  formats: { [LOG_STORE]: log, [SNAPSHOT_STORE]: snapshot, [OLD_COPY_STORE]: oldCopy },
};

/** Qwen Code: event logs in a tree of records, sidecar logs of subagents, and the snapshots before them. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { AGENT_STORE, CHAT_STORE, discover, roots, SNAPSHOT_STORE } from './paths.ts';

const traits = { decoderVersion: 1, incremental: 'diff' } as const;

const chat: StoreFormat = { ...traits, framing: 'jsonl', load: async () => (await import('./format.ts')).chatCode };
const snapshot: StoreFormat = {
  ...traits,
  framing: 'document',
  load: async () => (await import('./format.ts')).snapshotCode,
};

export const qwen: AgentDefinition = {
  slug: 'qwen',
  name: 'Qwen Code',
  aliases: ['qwen-code', 'qwen_code'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'projects/<project>/chats with archive; subagents/<session>; tmp/<hash>/chats of old versions',
  resume: 'qwen --resume <id>',
  roots,
  discover,
  formats: { [CHAT_STORE]: chat, [AGENT_STORE]: chat, [SNAPSHOT_STORE]: snapshot },
};

/** Mistral Vibe: a folder a session, with messages and a document of facts; single documents before 2.0. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, OLD_STORE, roots, SESSION_STORE } from './paths.ts';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  replacesUsage: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

const old: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  replacesUsage: true,
  load: async () => (await import('./format.ts')).oldCode,
};

export const vibe: AgentDefinition = {
  slug: 'vibe',
  name: 'Mistral Vibe',
  aliases: ['mistral-vibe', 'vibe-cli'],
  evidence: 'writer',
  usage: 'session_total',
  stores: 'logs/session/<name>/messages.jsonl with meta.json, agents/ below; session_*.json before 2.0',
  resume: 'vibe --resume <id>',
  roots,
  discover,
  formats: { [SESSION_STORE]: session, [OLD_STORE]: old },
};

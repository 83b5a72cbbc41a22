/** OpenAI Codex: CLI, IDE extension, desktop app, `codex exec`. They share one store. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import type { RolloutProduct } from './decode.ts';
import { codexRoots, discoverRollouts } from './paths.ts';

/** The layout of rollout files, which other products write too. */
export const rolloutFormat = (product: RolloutProduct): StoreFormat => ({
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  hasFamily: true,
  usageNeedsFamily: true,
  load: async () => (await import('./format.ts')).rolloutCode(product),
});

const documentFormat: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).documentCode,
};

const historyFormat: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  load: async () => (await import('./format.ts')).historyCode,
};

export const codex: AgentDefinition = {
  slug: 'codex',
  name: 'OpenAI Codex',
  aliases: ['codex-cli', 'codex_cli', 'openai-codex'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'rollout files, active and archived, plain or zstd; documents of early 2025; titles from the session index',
  resume: 'codex resume <id>',
  roots: codexRoots,
  discover: discoverRollouts,
  formats: {
    'codex-jsonl': rolloutFormat({ command: 'codex', reasoningInEvents: false }),
    'codex-document': documentFormat,
    'codex-history': historyFormat,
  },
};

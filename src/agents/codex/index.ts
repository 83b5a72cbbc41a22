/** OpenAI Codex: CLI, IDE extension, desktop app, `codex exec`. They share one store. */
import type { AgentDefinition, SourceFormat } from '../agent.ts';
import { type RolloutProduct, rolloutDecoder } from './decode.ts';
import { historyDecoder } from './history.ts';
import { claimLines, peekLinks, resolveFamily } from './kinship.ts';
import { documentDecoder } from './legacy-document.ts';
import { type RolloutOutline, readOutline } from './outline.ts';
import { codexRoots, discoverRollouts } from './paths.ts';

/** The format of rollout files, which other products write too. */
export const rolloutFormat = (product: RolloutProduct): SourceFormat<RolloutOutline> => ({
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  peek: peekLinks,
  usageNeedsFamily: true,
  claims: claimLines,
  resolve: resolveFamily,
  outline: readOutline,
  decoder: rolloutDecoder(product),
});

const documentFormat: SourceFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  decoder: documentDecoder,
};

const historyFormat: SourceFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  decoder: historyDecoder,
};

export const codex: AgentDefinition = {
  slug: 'codex',
  name: 'OpenAI Codex',
  aliases: ['codex-cli', 'codex_cli', 'openai-codex'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'rollout files, active and archived, plain or zstd; documents of early 2025; titles from the session index',
  roots: codexRoots,
  discover: discoverRollouts,
  formats: {
    'codex-jsonl': rolloutFormat({ command: 'codex', reasoningInEvents: false }),
    'codex-document': documentFormat,
    'codex-history': historyFormat,
  },
};

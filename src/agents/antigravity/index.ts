/** Google Antigravity, the program and the editor: transcripts, and usage in databases beside them. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, HISTORY_STORE, roots, SEALED_STORE, TRANSCRIPT_STORE, USAGE_STORE } from './paths.ts';

const traits = { decoderVersion: 1, incremental: 'diff' } as const;

const transcript: StoreFormat = {
  ...traits,
  framing: 'jsonl',
  hasFamily: true,
  load: async () => (await import('./format.ts')).transcriptCode,
};
const usage: StoreFormat = {
  ...traits,
  framing: 'database',
  load: async () => (await import('./format.ts')).usageCode,
};
const history: StoreFormat = {
  ...traits,
  framing: 'jsonl',
  load: async () => (await import('./format.ts')).historyCode,
};

export const antigravity: AgentDefinition = {
  slug: 'antigravity',
  name: 'Google Antigravity',
  aliases: ['agy', 'google-antigravity'],
  evidence: 'peer',
  usage: 'per_reply',
  stores:
    'brain/<id>: transcripts; conversations/<id>.db for usage; prompts of history.jsonl where there is nothing else',
  resume: 'agy --conversation <id>',
  roots,
  discover,
  formats: {
    [TRANSCRIPT_STORE]: transcript,
    [USAGE_STORE]: usage,
    [HISTORY_STORE]: history,
    [SEALED_STORE]: transcript,
  },
};

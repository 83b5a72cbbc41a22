/** Kiro IDE: files of executions, spines that point to them, and since 2026 journals under the Kiro home. */
import type { AgentDefinition, FormatCode, StoreFormat } from '../agent.ts';
import { discover, EXECUTION_STORE, JOURNAL_STORE, roots, SPINE_STORE } from './paths.ts';

const document = (pick: (formats: typeof import('./format.ts')) => FormatCode): StoreFormat => ({
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  // Executions hold files before and after each edit.
  maxSidecar: 64 * 1024 * 1024,
  load: async () => pick(await import('./format.ts')),
});

const journal: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  load: async () => (await import('./format.ts')).journalCode,
};

export const kiroIde: AgentDefinition = {
  slug: 'kiro_ide',
  name: 'Kiro IDE',
  aliases: ['kiro-ide'],
  evidence: 'peer',
  usage: 'none',
  stores: 'sessions/<hash>/sess_<id>/messages.jsonl; workspace-sessions and .chat files of the extension before it',
  resume: null,
  roots,
  discover,
  formats: {
    [EXECUTION_STORE]: document((formats) => formats.executionCode),
    [SPINE_STORE]: document((formats) => formats.spineCode),
    [JOURNAL_STORE]: journal,
  },
};

/** Cursor: the editor's key-value store, transcripts, and the store of the command line program. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { choose } from './choose.ts';
import { CHAT_STORE, CLI_STORE, COMPOSER_STORE, discover, roots, TEXT_STORE, TRANSCRIPT_STORE } from './paths.ts';

const traits = { decoderVersion: 1, incremental: 'diff' } as const;

const composer: StoreFormat = {
  ...traits,
  framing: 'database',
  load: async () => (await import('./format.ts')).composerCode,
};
const chat: StoreFormat = { ...traits, framing: 'database', load: async () => (await import('./format.ts')).chatCode };
const cli: StoreFormat = { ...traits, framing: 'database', load: async () => (await import('./format.ts')).cliCode };
const transcript: StoreFormat = {
  ...traits,
  framing: 'jsonl',
  load: async () => (await import('./format.ts')).transcriptCode,
};
const text: StoreFormat = { ...traits, framing: 'text', load: async () => (await import('./format.ts')).textCode };

export const cursor: AgentDefinition = {
  slug: 'cursor',
  name: 'Cursor',
  aliases: ['cursor-agent', 'cursor-ide', 'cursor-cli'],
  evidence: 'peer',
  usage: 'none',
  stores: 'globalStorage/state.vscdb; projects/<slug>/agent-transcripts; chats/<hash>/<id>/store.db',
  resume: 'cursor-agent --resume <id>',
  roots,
  discover,
  choose,
  formats: {
    [COMPOSER_STORE]: composer,
    [CHAT_STORE]: chat,
    [CLI_STORE]: cli,
    [TRANSCRIPT_STORE]: transcript,
    [TEXT_STORE]: text,
  },
};

/** Trae IDE: sessions in the key-value store of each window. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { choose, discover, roots, SEALED_STORE, STORAGE_STORE } from './paths.ts';

const storage: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).storageCode,
};

export const trae: AgentDefinition = {
  slug: 'trae',
  name: 'Trae',
  aliases: ['trae-ide', 'trae-cn'],
  evidence: 'peer',
  usage: 'none',
  stores: 'state.vscdb of workspaces and of the product; the newer encrypted store is told as unsupported',
  resume: null,
  roots,
  discover,
  choose,
  formats: { [STORAGE_STORE]: storage, [SEALED_STORE]: storage },
};

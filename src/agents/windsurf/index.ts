/** Windsurf: the old chat panel of each window; the conversations of Cascade are encrypted. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { choose, discover, PANEL_STORE, roots, SEALED_STORE } from './paths.ts';

const panel: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).panelCode,
};

export const windsurf: AgentDefinition = {
  slug: 'windsurf',
  name: 'Windsurf',
  aliases: ['codeium', 'cascade'],
  evidence: 'peer',
  usage: 'none',
  stores: 'state.vscdb of workspaces (old chat panel); encrypted cascade/<id>.pb are told as unsupported',
  resume: null,
  roots,
  discover,
  choose,
  formats: { [PANEL_STORE]: panel, [SEALED_STORE]: panel },
};

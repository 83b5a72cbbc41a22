/** OpenCode: the flat file tree of 2025, the SQLite store of 1.2 to 1.18, and that of 2.x. */
import type { AgentDefinition } from '../agent.ts';
import { storeFormats } from './formats.ts';
import { discover, layout, roots } from './paths.ts';

export const opencode: AgentDefinition = {
  slug: 'opencode',
  name: 'OpenCode',
  aliases: ['open-code', 'open_code', 'sst-opencode'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'opencode.db and opencode-<channel>.db (session tables of 1.x and 2.x); the file tree below storage/',
  resume: 'opencode --session <id>',
  roots,
  discover,
  formats: storeFormats(layout, () => import('./format.ts')),
};

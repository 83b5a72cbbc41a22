/** CodeBuddy Code of Tencent. What its IDE keeps is another store, and is not read. */
import { join } from 'node:path';
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import type { ItemsProduct } from './decode.ts';
import { discoverProjects, type ProjectStores } from './paths.ts';

/** The layouts of a product that keeps its sessions like this. */
export const itemsFormats = (stores: ProjectStores, product: ItemsProduct): Record<string, StoreFormat> => ({
  [stores.items]: {
    framing: 'jsonl',
    decoderVersion: 1,
    incremental: 'diff',
    load: async () => (await import('./format.ts')).itemsCode(product),
  },
  [stores.claude]: {
    framing: 'jsonl',
    decoderVersion: 1,
    incremental: 'append',
    hasFamily: true,
    load: async () => (await import('./format.ts')).claudeCode(product),
  },
});

const STORES: ProjectStores = { items: 'codebuddy-jsonl', claude: 'codebuddy-claude-jsonl' };

export const codebuddy: AgentDefinition = {
  slug: 'codebuddy',
  name: 'CodeBuddy Code',
  aliases: ['codebuddy-code', 'cbc'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl with subagents',
  resume: 'codebuddy --resume <id>',
  roots: ({ env, home }) => {
    const named = env['CODEBUDDY_CONFIG_DIR']?.trim() ?? '';
    return named === ''
      ? [{ path: join(home, '.codebuddy'), reason: 'default' }]
      : [{ path: named, reason: 'env CODEBUDDY_CONFIG_DIR' }];
  },
  discover: (root, walker) => discoverProjects(root, STORES, walker),
  formats: itemsFormats(STORES, { resume: 'codebuddy --resume', roles: ['user', 'assistant', 'system'] }),
};

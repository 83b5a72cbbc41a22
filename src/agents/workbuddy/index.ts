/** WorkBuddy of Tencent: a desktop app that runs CodeBuddy. Its database holds titles and how full contexts are. */
import { join } from 'node:path';
import type { AgentDefinition } from '../agent.ts';
import { itemsFormats } from '../codebuddy/index.ts';
import { discoverProjects, type ProjectStores } from '../codebuddy/paths.ts';

const STORES: ProjectStores = { items: 'workbuddy-jsonl', claude: 'workbuddy-claude-jsonl' };

export const workbuddy: AgentDefinition = {
  slug: 'workbuddy',
  name: 'WorkBuddy',
  aliases: ['work-buddy', 'tencent-workbuddy'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl with subagents',
  resume: null,
  roots: ({ home }) => [{ path: join(home, '.workbuddy'), reason: 'default' }],
  discover: (root, walker) => discoverProjects(root, STORES, walker),
  formats: itemsFormats(STORES, { resume: null, roles: ['user', 'assistant'] }),
};

/** Oh My Pi: session files as pi writes them, after a title that is rewritten in place; agents in files of their own. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { choose, discover, roots, SESSION_STORE } from './paths.ts';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode,
};

export const omp: AgentDefinition = {
  slug: 'omp',
  name: 'Oh My Pi',
  aliases: ['oh-my-pi', 'oh_my_pi'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'agent/sessions/<cwd>/<time>_<id>.jsonl with agents in a folder of that name; profiles; XDG data folder',
  resume: 'omp --resume <id>',
  roots,
  discover,
  choose,
  formats: { [SESSION_STORE]: session },
};

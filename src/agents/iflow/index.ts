/** iFlow CLI: transcripts shaped like Claude Code's, with rules of their own. */
import { join } from 'node:path';
import type { AgentDefinition, SourceSpec, StoreFormat, Walker } from '../agent.ts';

const SESSION_STORE = 'iflow-jsonl';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode,
};

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const project of walker.list(join(root, 'projects'))) {
    if (project.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(project.path)) {
      if (type !== 'file' || !name.endsWith('.jsonl')) continue;
      const stem = name.slice(0, -'.jsonl'.length);
      yield { storeKind: SESSION_STORE, path, identity: path, name: stem, hints: {}, sidecars: {} };
    }
  }
}

export const iflow: AgentDefinition = {
  slug: 'iflow',
  name: 'iFlow CLI',
  aliases: ['iflow-cli'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl',
  resume: null,
  roots: ({ home }) => [{ path: join(home, '.iflow'), reason: 'default' }],
  discover,
  formats: { [SESSION_STORE]: session },
};

/** Zencoder: a header line, then messages made of parts. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';

const SESSION_STORE = 'zencoder-jsonl';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

const roots = ({ home }: AgentEnvironment): RootCandidate[] => [{ path: join(home, '.zencoder'), reason: 'default' }];

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(join(root, 'sessions'))) {
    if (type !== 'file' || !name.endsWith('.jsonl')) continue;
    const stem = name.slice(0, -'.jsonl'.length);
    yield { storeKind: SESSION_STORE, path, identity: path, name: stem, hints: {}, sidecars: {} };
  }
}

export const zencoder: AgentDefinition = {
  slug: 'zencoder',
  name: 'Zencoder',
  aliases: ['zen', 'zen-cli'],
  evidence: 'peer',
  usage: 'none',
  stores: 'sessions/<id>.jsonl',
  resume: null,
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

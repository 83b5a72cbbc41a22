/** TRAE CLI 2.0: made of Codex, whose rollouts it writes. */
import { join } from 'node:path';
import type { AgentDefinition, SourceSpec, Walker } from '../agent.ts';
import { rolloutFormat } from '../codex/index.ts';
import { discoverRollouts } from '../codex/paths.ts';

const ROLLOUT_STORE = 'traex-jsonl';

/** Rollouts only: it keeps no list of titles and its prompt history is no source here. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const spec of discoverRollouts(root, walker)) {
    if (spec.storeKind === 'codex-jsonl') yield { ...spec, storeKind: ROLLOUT_STORE };
  }
}

export const traex: AgentDefinition = {
  slug: 'traex',
  name: 'TRAE CLI',
  aliases: ['trae-cli', 'traecli'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'rollout files, active and archived, as Codex writes them',
  resume: 'traex resume <id>',
  roots: ({ env, home }) => {
    const named = env['TRAE_HOME']?.trim() ?? '';
    return named === ''
      ? [{ path: join(home, '.trae', 'cli'), reason: 'default' }]
      : [{ path: join(named, 'cli'), reason: 'env TRAE_HOME' }];
  },
  discover,
  // Readable reasoning stands only in events, beside an item that is encrypted.
  formats: { [ROLLOUT_STORE]: rolloutFormat({ command: 'traex', reasoningInEvents: true }) },
};

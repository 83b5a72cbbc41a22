/** OpenClaude: Claude Code for any model, with a folder of its own. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { SESSION_STORE as CLAUDE_STORE, discover as discoverTranscripts } from '../claude/paths.ts';

const SESSION_STORE = 'openclaude-session';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  // Which session a file came from is said by rows anywhere in it.
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = env['OPENCLAUDE_CONFIG_DIR']?.trim() ?? '';
  if (value !== '') return [{ path: value, reason: 'env OPENCLAUDE_CONFIG_DIR' }];
  return [{ path: join(home, '.openclaude'), reason: 'default' }];
}

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const spec of discoverTranscripts(root, walker)) {
    if (spec.storeKind === CLAUDE_STORE) yield { ...spec, storeKind: SESSION_STORE };
  }
}

export const openclaude: AgentDefinition = {
  slug: 'openclaude',
  name: 'OpenClaude',
  aliases: ['open-claude'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl with subagents, as Claude Code writes them',
  resume: 'openclaude --resume <id>',
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

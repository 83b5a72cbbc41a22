/** GitHub Copilot CLI: one event log a session. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, LEGACY_STORE, LOG_STORE, roots } from './paths.ts';

const log: StoreFormat = {
  framing: 'jsonl',
  replacesUsage: true,
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  usageNeedsFamily: true,
  load: async () => (await import('./format.ts')).logCode,
};

const legacy: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).legacyCode,
};

export const copilotCli: AgentDefinition = {
  slug: 'copilot_cli',
  name: 'GitHub Copilot CLI',
  aliases: ['copilot-cli', 'github-copilot-cli'],
  evidence: 'writer',
  usage: 'session_total',
  stores: 'session-state/<id>/events.jsonl, flat <id>.jsonl; history-session-state documents of old versions',
  resume: 'copilot --resume <id>',
  roots,
  discover,
  formats: { [LOG_STORE]: log, [LEGACY_STORE]: legacy },
};

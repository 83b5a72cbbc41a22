/** Kimi CLI and Kimi Code of Moonshot AI: two programs, each with a store of its own. */

import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, StoreFormat } from '../agent.ts';
import { discover } from './paths.ts';
import { CONTEXT_STORE, JOURNAL_STORE, WIRE_STORE } from './stores.ts';

const traits = { framing: 'jsonl', decoderVersion: 1, incremental: 'diff' } as const;

const wire: StoreFormat = { ...traits, hasFamily: true, load: async () => (await import('./format.ts')).wireCode };
const context: StoreFormat = { ...traits, load: async () => (await import('./format.ts')).contextCode };
/** Requests have no id, and newer programs write a journal anew: what it said then is what it says now. */
const journal: StoreFormat = {
  ...traits,
  replacesUsage: true,
  load: async () => (await import('./format.ts')).journalCode,
};

/** Each variable names the folder itself (writer; vendor's manual). */
function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  return [
    ['KIMI_SHARE_DIR', '.kimi'],
    ['KIMI_CODE_HOME', '.kimi-code'],
  ].map(([name, folder]) => {
    const value = env[name!]?.trim() ?? '';
    return value === '' ? { path: join(home, folder!), reason: 'default' } : { path: value, reason: `env ${name}` };
  });
}

export const kimi: AgentDefinition = {
  slug: 'kimi',
  name: 'Kimi CLI and Kimi Code',
  aliases: ['kimi-cli', 'kimi-code', 'kimi_cli', 'kimi_code'],
  evidence: 'writer',
  usage: 'per_reply',
  stores:
    'sessions/<hash>/<id>/wire.jsonl with subagents (CLI); sessions/wd_<folder>/<id>/agents/<agent>/wire.jsonl (Code)',
  resume: 'kimi --session <id>',
  roots,
  discover,
  formats: { [WIRE_STORE]: wire, [CONTEXT_STORE]: context, [JOURNAL_STORE]: journal },
};

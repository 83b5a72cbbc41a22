/** Claude Code: command line, IDE extension, SDK and the desktop's "Code" tab. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, HISTORY_STORE, roots, SESSION_STORE } from './paths.ts';

const sessions: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  hasFamily: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

const history: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  load: async () => (await import('./format.ts')).historyCode,
};

export const claude: AgentDefinition = {
  slug: 'claude',
  name: 'Claude Code',
  aliases: ['claude-code', 'claude_code', 'cc', 'claudecode'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl with subagents; history.jsonl for the table `history`',
  resume: 'claude --resume <id>',
  roots,
  discover,
  formats: { [SESSION_STORE]: sessions, [HISTORY_STORE]: history },
};

/** Claude Code: command line, IDE extension, SDK and the desktop's "Code" tab. */
import type { AgentDefinition, SourceFormat } from '../agent.ts';
import { claims, resolve } from './copies.ts';
import { ClaudeDecoder } from './decode.ts';
import { HistoryDecoder } from './history.ts';
import { peek } from './links.ts';
import { type ClaudeOutline, outlineFrames } from './outline.ts';
import { discover, HISTORY_STORE, roots, SESSION_STORE } from './paths.ts';
import { savedTail } from './state.ts';
import { COUNTER, isUsageOnly, UsageDecoder } from './usage-only.ts';
import { UsageTotalsDecoder } from './usage-totals.ts';

const sessions: SourceFormat<ClaudeOutline> = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  peek,
  totals: { mark: COUNTER, decoder: (context, out) => new UsageTotalsDecoder(context, out) },
  claims,
  resolve,
  outline: (frames, source, resume) => outlineFrames(frames, source, savedTail(resume)),
  decoder: (context, out) =>
    isUsageOnly(out.wants) ? new UsageDecoder(context, out) : new ClaudeDecoder(context, out),
};

const history: SourceFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  decoder: (_context, out) => new HistoryDecoder(out),
};

export const claude: AgentDefinition = {
  slug: 'claude',
  name: 'Claude Code',
  aliases: ['claude-code', 'claude_code', 'cc', 'claudecode'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl with subagents; history.jsonl for the table `history`',
  roots,
  discover,
  formats: { [SESSION_STORE]: sessions, [HISTORY_STORE]: history },
};

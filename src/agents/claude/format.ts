/** How the files of Claude Code are read. */
import type { FormatCode } from '../agent.ts';
import { claims, resolve } from './copies.ts';
import { ClaudeDecoder } from './decode.ts';
import { HistoryDecoder } from './history.ts';
import { peek } from './links.ts';
import { type ClaudeOutline, outlineFrames } from './outline.ts';
import { savedTail } from './state.ts';
import { COUNTER, isUsageOnly, UsageDecoder } from './usage-only.ts';
import { UsageTotalsDecoder } from './usage-totals.ts';

export const sessionCode: FormatCode<ClaudeOutline> = {
  peek,
  totals: { mark: COUNTER, decoder: (context, out) => new UsageTotalsDecoder(context, out) },
  claims,
  resolve,
  outline: (frames, source, resume) => outlineFrames(frames, source, savedTail(resume)),
  decoder: (context, out) =>
    isUsageOnly(out.wants) ? new UsageDecoder(context, out) : new ClaudeDecoder(context, out),
};

export const historyCode: FormatCode = { decoder: (_context, out) => new HistoryDecoder(out) };

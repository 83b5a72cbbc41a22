/** How the files of a conversation are read. */
import type { FormatCode } from '../agent.ts';
import { childrenOf, resolveParents } from './children.ts';
import { queryGenerations } from './generations.ts';
import { HistoryDecoder } from './history.ts';
import { readSteps, type StepOutline, TranscriptDecoder } from './transcript.ts';
import { UsageDecoder } from './usage.ts';

export const transcriptCode: FormatCode<StepOutline> = {
  // Nothing in a subagent's conversation names its parent: any of the same folder may be.
  peek: (_frames, source) => ({ ids: [source.name], refs: [`root ${String(source.hints['root'])}`] }),
  claims: childrenOf,
  resolve: resolveParents,
  outline: (frames) => ({ outline: readSteps(frames) }),
  decoder: (context, out) => new TranscriptDecoder(context, out),
};

export const usageCode: FormatCode = {
  query: queryGenerations,
  decoder: (context, out) => new UsageDecoder(context, out),
};
export const historyCode: FormatCode = { decoder: (context, out) => new HistoryDecoder(context, out) };

/** How the stores of Vibe are read. */
import type { FormatCode } from '../agent.ts';
import { claimRecords, copiesOfParents, linksOf } from '../dialects/forks.ts';
import { OldDecoder, recordId, SessionDecoder } from './decode.ts';

export const sessionCode: FormatCode = {
  // The session that a subagent's folder stands in holds none of its messages.
  peek: (_frames, source) =>
    linksOf(String(source.hints['sessionId']), source.hints['isAgent'] === true ? null : source.hints['parent']),
  claims: (frames) => claimRecords(frames, recordId),
  resolve: copiesOfParents,
  decoder: (context, out) => new SessionDecoder(context, out),
};

export const oldCode: FormatCode = { decoder: (context, out) => new OldDecoder(context, out) };

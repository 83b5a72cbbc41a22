/** How sessions are read. */
import type { FormatCode } from '../agent.ts';
import { claimRecords, copiesOfParents } from '../dialects/forks.ts';
import { SessionDecoder } from './decode.ts';
import { type EntryOutline, entryId, peekLinks, readOutline } from './outline.ts';

export const sessionCode: FormatCode<EntryOutline> = {
  peek: peekLinks,
  claims: (frames) => claimRecords(frames, entryId),
  resolve: copiesOfParents,
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new SessionDecoder(context, out),
};

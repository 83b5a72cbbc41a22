/** How threads are read. */
import type { FormatCode } from '../agent.ts';
import { copiesOfParents } from '../dialects/forks.ts';
import { ThreadDecoder } from './decode.ts';
import { claimReplies, peekLinks } from './forks.ts';

export const threadCode: FormatCode = {
  lists: [['messages']],
  peek: peekLinks,
  claims: claimReplies,
  resolve: copiesOfParents,
  decoder: (context, out) => new ThreadDecoder(context, out),
};

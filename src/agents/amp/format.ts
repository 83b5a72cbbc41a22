/** How threads are read. */
import type { FormatCode } from '../agent.ts';
import { ThreadDecoder } from './decode.ts';
import { claimReplies, peekLinks, resolveForks } from './forks.ts';

export const threadCode: FormatCode = {
  lists: [['messages']],
  peek: peekLinks,
  claims: claimReplies,
  resolve: resolveForks,
  decoder: (context, out) => new ThreadDecoder(context, out),
};

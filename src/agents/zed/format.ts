/** How threads are read. */
import type { FormatCode } from '../agent.ts';
import { ThreadDecoder } from './decode.ts';
import { queryThread } from './threads.ts';

export const databaseCode: FormatCode = {
  query: queryThread,
  decoder: (context, out) => new ThreadDecoder(context, out),
};

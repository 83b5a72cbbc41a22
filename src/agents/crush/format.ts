/** How sessions are read. */
import type { FormatCode } from '../agent.ts';
import { SessionDecoder } from './decode.ts';
import { queryRows } from './sessions.ts';

export const databaseCode: FormatCode = {
  query: queryRows,
  decoder: (context, out) => new SessionDecoder(context, out),
};

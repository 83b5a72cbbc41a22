/** How sessions are read. */
import type { FormatCode } from '../agent.ts';
import { SessionDecoder } from './decode.ts';
import { querySession } from './storage.ts';

export const storageCode: FormatCode = {
  query: querySession,
  decoder: (context, out) => new SessionDecoder(context, out),
};

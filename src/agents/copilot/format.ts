/** How chat sessions are read. */
import type { FormatCode } from '../agent.ts';
import { LogDecoder, SnapshotDecoder } from './decode.ts';
import { claimRequests, peekLinks, resolveCopies } from './kinship.ts';
import { queryRows } from './old-sessions.ts';

const family = { peek: peekLinks, resolve: resolveCopies };

export const logCode: FormatCode = {
  ...family,
  claims: (frames) => claimRequests(frames, 'log'),
  decoder: (context, out) => new LogDecoder(context, out),
};

export const snapshotCode: FormatCode = {
  ...family,
  claims: (frames) => claimRequests(frames, 'snapshot'),
  decoder: (context, out) => new SnapshotDecoder(context, out),
};

export const databaseCode: FormatCode = { ...snapshotCode, query: queryRows };

/** How the stores of Goose are read. */
import type { FormatCode } from '../agent.ts';
import { DatabaseDecoder, LegacyDecoder } from './decode.ts';
import { queryRows } from './sessions.ts';

export const databaseCode: FormatCode = {
  query: queryRows,
  decoder: (context, out) => new DatabaseDecoder(context, out),
};

export const legacyCode: FormatCode = { decoder: (context, out) => new LegacyDecoder(context, out) };

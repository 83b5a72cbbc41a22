/** How conversations are read. */
import type { FormatCode } from '../agent.ts';
import { queryRows } from './conversations.ts';
import { ConversationDecoder } from './decode.ts';

export const databaseCode: FormatCode = {
  query: queryRows,
  decoder: (context, out) => new ConversationDecoder(context, out),
};

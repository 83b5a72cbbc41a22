/** How conversations are read. */
import type { FormatCode } from '../agent.ts';
import { queryConversation } from './conversations.ts';
import { ConversationDecoder } from './decode.ts';

export const databaseCode: FormatCode = {
  query: queryConversation,
  decoder: (context, out) => new ConversationDecoder(context, out),
};

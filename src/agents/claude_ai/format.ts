/** How an export's array of conversations is read. */
import type { FormatCode } from '../agent.ts';
import { ConversationDecoder } from './decode.ts';

export const conversationCode: FormatCode = {
  lists: [[]],
  decoder: (context, out) => new ConversationDecoder(context, out),
};

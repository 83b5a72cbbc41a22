/** How files of conversations are read: an export's array, or one conversation of the app's cache. */
import type { FormatCode } from '../agent.ts';
import { ConversationDecoder } from './decode.ts';

export const conversationCode: FormatCode = {
  lists: [[]],
  decoder: (context, out) => new ConversationDecoder(context, out),
};

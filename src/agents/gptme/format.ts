/** How conversations are read. */
import type { FormatCode } from '../agent.ts';
import { ConversationDecoder } from './decode.ts';

export const conversationCode: FormatCode = { decoder: (context, out) => new ConversationDecoder(context, out) };

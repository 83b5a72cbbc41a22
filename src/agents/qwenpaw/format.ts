/** How chats are read. */
import type { FormatCode } from '../agent.ts';
import { ChatDecoder } from './decode.ts';

export const sessionCode: FormatCode = {
  lists: [
    ['agent', 'memory', 'content'],
    ['agent', 'memory', 'memories'],
  ],
  decoder: (context, out) => new ChatDecoder(context, out),
};

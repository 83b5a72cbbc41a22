/** How chats are read. */
import type { FormatCode } from '../agent.ts';
import { ChatDecoder } from './decode.ts';
import { LegacyDecoder } from './legacy.ts';

export const chatCode: FormatCode = {
  lists: [[]],
  decoder: (context, out) => new ChatDecoder(context, out),
};

export const legacyCode: FormatCode = {
  lists: [['messages']],
  decoder: (context, out) => new LegacyDecoder(context, out),
};

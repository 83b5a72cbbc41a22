/** How conversations are read. */
import type { FormatCode } from '../agent.ts';
import { ConversationDecoder } from './decode.ts';
import { LegacyDecoder } from './legacy.ts';
import { type Outline, readOutline } from './outline.ts';
import { conversationFiles, sessionFiles } from './paths.ts';

export const conversationCode: FormatCode<Outline> = {
  files: conversationFiles,
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new ConversationDecoder(context, out),
};

export const legacyCode: FormatCode = {
  files: sessionFiles,
  decoder: (context, out) => new LegacyDecoder(context, out),
};

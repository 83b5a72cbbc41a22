/** How the files of Qwen Code are read. */
import type { FormatCode } from '../agent.ts';
import { ChatDecoder } from './chat.ts';
import { type ChatOutline, readOutline } from './outline.ts';
import { SnapshotDecoder } from './snapshot.ts';

export const chatCode: FormatCode<ChatOutline> = {
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new ChatDecoder(context, out),
};

export const snapshotCode: FormatCode = {
  lists: [['messages']],
  decoder: (context, out) => new SnapshotDecoder(context, out),
};

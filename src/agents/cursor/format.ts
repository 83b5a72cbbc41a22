/** How the stores of Cursor are read. */
import type { FormatCode } from '../agent.ts';
import { ChatDecoder, ComposerDecoder } from './bubbles.ts';
import { queryTabs } from './chats.ts';
import { CliDecoder } from './cli.ts';
import { queryBlobs } from './cli-store.ts';
import { queryRows } from './composers.ts';
import { TextDecoder } from './text.ts';
import { TranscriptDecoder } from './transcript.ts';

export const composerCode: FormatCode = {
  query: queryRows,
  decoder: (context, out) => new ComposerDecoder(context, out),
};
export const chatCode: FormatCode = { query: queryTabs, decoder: (context, out) => new ChatDecoder(context, out) };
export const cliCode: FormatCode = { query: queryBlobs, decoder: (context, out) => new CliDecoder(context, out) };
export const transcriptCode: FormatCode = { decoder: (context, out) => new TranscriptDecoder(context, out) };
export const textCode: FormatCode = { decoder: (context, out) => new TextDecoder(context, out) };

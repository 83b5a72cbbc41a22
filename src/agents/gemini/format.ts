/** How the files of Gemini CLI are read. */
import type { FormatCode } from '../agent.ts';
import { LogDecoder } from './log.ts';
import { SnapshotDecoder } from './snapshot.ts';

export const logCode: FormatCode = { decoder: (context, out) => new LogDecoder(context, out) };

export const snapshotCode: FormatCode = {
  lists: [['messages']],
  decoder: (context, out) => new SnapshotDecoder(context, out),
};

export const oldCopyCode: FormatCode = {
  decoder: (_context, out) => ({
    frame: () => out.ignored('superseded by the event log beside it'),
    finish: () => undefined,
  }),
};

/** How logs are read. */
import type { FormatCode } from '../agent.ts';
import { HistoryDecoder } from './decode.ts';
import { type HistoryOutline, readOutline } from './lines.ts';

export const historyCode: FormatCode<HistoryOutline> = {
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new HistoryDecoder(context, out),
};

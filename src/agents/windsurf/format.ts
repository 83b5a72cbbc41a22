/** How sessions of the chat panel are read. */
import type { FormatCode } from '../agent.ts';
import { PanelDecoder } from './decode.ts';
import { querySession } from './storage.ts';

export const panelCode: FormatCode = {
  query: querySession,
  decoder: (context, out) => new PanelDecoder(context, out),
};

/** How sessions are read. */
import type { FormatCode } from '../agent.ts';
import { EventDecoder } from './decode.ts';

export const sessionCode: FormatCode = { decoder: (context, out) => new EventDecoder(context, out) };

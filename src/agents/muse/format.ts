/** How session logs are read. */
import type { FormatCode } from '../agent.ts';
import { SessionDecoder } from './decode.ts';

export const sessionCode: FormatCode = { decoder: (context, out) => new SessionDecoder(context, out) };

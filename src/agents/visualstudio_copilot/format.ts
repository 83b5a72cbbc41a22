/** How traces are read. */
import type { FormatCode } from '../agent.ts';
import { TraceDecoder } from './decode.ts';
import { claimSpans, peekLinks, resolveSpans } from './kinship.ts';

export const traceCode: FormatCode = {
  peek: peekLinks,
  claims: claimSpans,
  resolve: resolveSpans,
  decoder: (context, out) => new TraceDecoder(context, out),
};

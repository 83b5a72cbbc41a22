/** How session files are read. */
import type { FormatCode } from '../agent.ts';
import { PiDecoder, type PiProduct } from './decode.ts';
import { type PiOutline, readOutline } from './outline.ts';

export const sessionCode = (product: PiProduct): FormatCode<PiOutline> => ({
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new PiDecoder(context, out, product),
});

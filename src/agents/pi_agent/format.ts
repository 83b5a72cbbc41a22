/** How session files are read. */
import type { DecodeContext, Emitter, FormatCode } from '../agent.ts';
import { PiDecoder, type PiProduct } from './decode.ts';
import { type OutlineOptions, type PiOutline, readOutline } from './outline.ts';

type Decoding = new (context: DecodeContext<PiOutline>, out: Emitter, product: PiProduct) => PiDecoder;

export const sessionCode = (
  product: PiProduct,
  Decoder: Decoding = PiDecoder,
  options: OutlineOptions = {},
): FormatCode<PiOutline> => ({
  outline: (frames) => ({ outline: readOutline(frames, options) }),
  decoder: (context, out) => new Decoder(context, out, product),
});

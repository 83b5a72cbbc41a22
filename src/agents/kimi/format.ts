/** How the stores of both programs are read. */
import type { FormatCode } from '../agent.ts';
import { ContextDecoder } from './context.ts';
import { JournalDecoder } from './journal.ts';
import { claimLines, peekLinks, resolveForks } from './kinship.ts';
import { type JournalOutline, outlineJournal } from './outline.ts';
import { outlineWire, WireDecoder, type WireOutline } from './wire.ts';

export const wireCode: FormatCode<WireOutline> = {
  peek: peekLinks,
  claims: claimLines,
  resolve: resolveForks,
  outline: (frames) => ({ outline: outlineWire(frames) }),
  decoder: (context, out) => new WireDecoder(context, out),
};

export const contextCode: FormatCode = { decoder: (context, out) => new ContextDecoder(context, out) };

export const journalCode: FormatCode<JournalOutline> = {
  outline: (frames) => ({ outline: outlineJournal(frames) }),
  decoder: (context, out) => new JournalDecoder(context, out),
};

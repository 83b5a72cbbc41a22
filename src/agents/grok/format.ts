/** How journals, and the model's context, are read. */
import type { FormatCode } from '../agent.ts';
import { claimRecords, copiesOfParents, linksOf } from '../dialects/forks.ts';
import { textHint } from '../dialects/rows.ts';
import { ChatDecoder } from './chat.ts';
import { JournalDecoder } from './decode.ts';
import { type JournalOutline, readOutline } from './outline.ts';
import { readUpdate } from './update.ts';

export const journalCode: FormatCode<JournalOutline> = {
  peek: (_frames, source) => linksOf(textHint(source, 'sessionId') ?? source.name, source.hints['parent']),
  // A fork copies the lines of its parent, with the ids of the events.
  claims: (frames) => claimRecords(frames, (record) => readUpdate(record)?.eventId ?? null),
  resolve: copiesOfParents,
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new JournalDecoder(context, out),
};

export const chatCode: FormatCode = { decoder: (context, out) => new ChatDecoder(context, out) };

/** How the durable store is read. */
import type { Decoder, FormatCode } from '../agent.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { textHint } from '../dialects/rows.ts';
import { CommitDecoder } from './commits.ts';
import { queryEntries } from './conversations.ts';
import { ConversationDecoder } from './entries.ts';

export const databaseCode: FormatCode = {
  query: queryEntries,
  decoder: (context, out): Decoder => {
    const { source } = context;
    const parentId = textHint(source, 'parentId');
    const decoder = new ConversationDecoder(context, out, {
      sessionId: source.name,
      origin: parentId === null ? null : { id: parentId, kind: source.hints['kind'] === 'fork' ? 'fork' : 'subagent' },
      cwd: textHint(source, 'cwd'),
    });
    return {
      frame(frame) {
        const entry = objectOrReport(frame, out);
        if (entry !== null) decoder.tellEntry(entry, frame);
      },
      finish: () => decoder.finish(),
    };
  },
};

export const filesCode: FormatCode = { decoder: (context, out) => new CommitDecoder(context, out) };

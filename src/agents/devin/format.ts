/** How sessions and exports are read. */
import type { FormatCode, SourceSpec } from '../agent.ts';
import { claimRecords, copiesOfParents } from '../dialects/forks.ts';
import { nameField, objectField, parseOrUndefined } from '../dialects/json.ts';
import { SessionDecoder } from './decode.ts';
import { queryRows } from './sessions.ts';
import { TranscriptDecoder } from './transcript.ts';

/** Sessions that were created before this one, and begin as it does. */
function olderThan(source: SourceSpec): string[] {
  const older = parseOrUndefined(String(source.hints['older']));
  return Array.isArray(older) ? older.map(String) : [];
}

/** A fork is recorded nowhere; its messages have the ids that they had where they were written. */
export const databaseCode: FormatCode = {
  query: queryRows,
  peek: (_frames, source) => ({ ids: [source.name], refs: olderThan(source) }),
  claims: (frames) =>
    claimRecords(frames, (record) => {
      const message = objectField(record, 'message');
      return message === null ? null : nameField(message, 'message_id');
    }),
  resolve: copiesOfParents,
  decoder: (context, out) => new SessionDecoder(context, out),
};

export const transcriptCode: FormatCode = { decoder: (context, out) => new TranscriptDecoder(context, out) };

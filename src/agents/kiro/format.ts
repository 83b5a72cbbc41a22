/** How the stores of Kiro CLI are read. */
import type { FormatCode } from '../agent.ts';
import { claimRecords, copiesOfParents, linksOf } from '../dialects/forks.ts';
import { nameField, objectField } from '../dialects/json.ts';
import { ConversationDecoder } from './conversation.ts';
import { queryConversation } from './conversations.ts';
import { JournalDecoder } from './journal.ts';

export const journalCode: FormatCode = {
  peek: (_frames, source) => linksOf(String(source.hints['sessionId']), source.hints['parent']),
  claims: (frames) =>
    claimRecords(frames, (record) => {
      const data = objectField(record, 'data');
      return data === null ? null : nameField(data, 'message_id');
    }),
  // A rewind makes a new file, which begins with copies of the lines that were kept.
  resolve: copiesOfParents,
  decoder: (context, out) => new JournalDecoder(context, out),
};

export const databaseCode: FormatCode = {
  query: queryConversation,
  decoder: (context, out) => new ConversationDecoder(context, out),
};

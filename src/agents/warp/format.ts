/** How conversations are read. */
import type { FormatCode } from '../agent.ts';
import { claimRecords, copiesOfParents } from '../dialects/forks.ts';
import { nameField, parseOrUndefined } from '../dialects/json.ts';
import { queryRows } from './conversations.ts';
import { ConversationDecoder, type Models, readModels } from './decode.ts';

/** Forks, and what is kept before a rewind, are conversations that hold messages under the ids they had. */
export const databaseCode: FormatCode<Models> = {
  query: queryRows,
  peek: (_frames, source) => {
    const older = parseOrUndefined(String(source.hints['older']));
    return { ids: [source.name], refs: Array.isArray(older) ? older.map(String) : [] };
  },
  claims: (frames) => claimRecords(frames, (record) => nameField(record, 'id')),
  resolve: copiesOfParents,
  outline: (frames) => ({ outline: readModels(frames) }),
  decoder: (context, out) => new ConversationDecoder(context, out),
};

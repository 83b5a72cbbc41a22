/** How sessions are read. */
import type { FormatCode } from '../agent.ts';
import { claimRecords, copiesOfParents, linksOf } from '../dialects/forks.ts';
import { nameField } from '../dialects/json.ts';
import { SessionDecoder } from './decode.ts';
import { FileDecoder } from './files.ts';
import { queryRows } from './sessions.ts';

/** A continuation begins with its parent's last messages, a branch with its history: the same but for their numbers. */
export const databaseCode: FormatCode = {
  query: queryRows,
  peek: (_frames, source) => linksOf(source.name, source.hints['parent']),
  claims: (frames) => claimRecords(frames, (record) => nameField(record, 'digest')),
  resolve: copiesOfParents,
  decoder: (context, out) => new SessionDecoder(context, out),
};

export const snapshotCode: FormatCode = {
  lists: [['messages']],
  decoder: (context, out) => new FileDecoder(context, out),
};

export const logCode: FormatCode = { decoder: (context, out) => new FileDecoder(context, out) };

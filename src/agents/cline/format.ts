/** How the stores of Cline are read. */
import type { FormatCode } from '../agent.ts';
import { TaskDecoder } from '../dialects/task-rows/decode.ts';
import { taskFiles } from '../dialects/task-rows/files.ts';
import { claimMessages, peekLinks, resolveFamily } from './kinship.ts';
import { SessionDecoder } from './session.ts';

export const taskCode: FormatCode = {
  files: taskFiles,
  decoder: (context, out) => new TaskDecoder(context, out, { input: 'disjoint', model: 'row' }),
};

export const sessionCode: FormatCode = {
  lists: [['messages'], []],
  peek: peekLinks,
  claims: claimMessages,
  resolve: resolveFamily,
  decoder: (context, out) => new SessionDecoder(context, out),
};

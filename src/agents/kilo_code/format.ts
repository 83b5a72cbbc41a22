/** How the stores of Kilo Code are read. */
import type { FormatCode } from '../agent.ts';
import { TaskDecoder } from '../dialects/task-rows/decode.ts';
import { taskFiles } from '../dialects/task-rows/files.ts';
import { databaseFormat, treeFormat } from '../opencode/format.ts';

export const taskCode: FormatCode = {
  files: taskFiles,
  decoder: (context, out) => new TaskDecoder(context, out, { input: 'by_date', model: 'environment' }),
};

const product = { resume: 'kilo --session' };
export const treeCode = treeFormat(product);
export const databaseCode = databaseFormat(product);

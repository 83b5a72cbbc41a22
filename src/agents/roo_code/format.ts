/** How tasks are read. */
import type { FormatCode } from '../agent.ts';
import { TaskDecoder } from '../dialects/task-rows/decode.ts';
import { taskFiles } from '../dialects/task-rows/files.ts';

export const taskCode: FormatCode = {
  files: taskFiles,
  decoder: (context, out) => new TaskDecoder(context, out, { input: 'by_date', model: 'environment' }),
};

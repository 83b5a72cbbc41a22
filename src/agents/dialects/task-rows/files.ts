/** The files of a task in reading order: what gives models and folders first, then the rows. */
import { dirname, join } from 'node:path';
import type { FolderFile } from '../../../framing/folder.ts';
import type { SourceSpec } from '../../agent.ts';

export const HISTORY = 'history';
export const ROWS = 'rows';

export function* taskFiles(source: SourceSpec): Iterable<FolderFile> {
  const folder = dirname(source.path);
  const { rows, history } = source.hints;
  if (typeof history === 'string') yield { path: join(folder, history), locator: HISTORY };
  if (typeof rows === 'string') yield { path: join(folder, rows), locator: ROWS };
}

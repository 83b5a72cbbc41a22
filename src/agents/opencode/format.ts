/** How the stores of OpenCode are read. */
import type { FormatCode } from '../agent.ts';
import { OpencodeDecoder } from './decode.ts';
import { queryRows } from './sessions.ts';
import { sessionFiles } from './tree.ts';

export interface OpencodeProduct {
  /** Command that takes a session up again, the id follows; null where it is not known. */
  readonly resume: string | null;
  /** Whether versions are those of OpenCode, of which old ones counted input otherwise. */
  readonly hasOldVersions?: boolean;
}

const OPENCODE: OpencodeProduct = { resume: 'opencode --session', hasOldVersions: true };

export const treeFormat = (product: OpencodeProduct): FormatCode => ({
  files: sessionFiles,
  decoder: (context, out) => new OpencodeDecoder(context, out, product, 'names'),
});

export const databaseFormat = (product: OpencodeProduct): FormatCode => ({
  query: queryRows,
  decoder: (context, out) => new OpencodeDecoder(context, out, product, 'records'),
});

export const treeCode = treeFormat(OPENCODE);
export const databaseCode = databaseFormat(OPENCODE);

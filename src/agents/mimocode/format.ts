/** Stores are those of OpenCode; how a session is taken up again is not known. */
import { databaseFormat, treeFormat } from '../opencode/format.ts';

const product = { resume: null };
export const treeCode = treeFormat(product);
export const databaseCode = databaseFormat(product);

/** The two layouts of OpenCode's stores, which products made of it have too. */
import type { FormatCode, StoreFormat } from '../agent.ts';
import type { TreeLayout } from './paths.ts';

export interface StoreCode {
  readonly treeCode: FormatCode;
  readonly databaseCode: FormatCode;
}

/** Formats of a product by the names that its layout gives them. */
export const storeFormats = (
  { storeKinds }: TreeLayout,
  load: () => Promise<StoreCode>,
): Readonly<Record<string, StoreFormat>> => ({
  [storeKinds.tree]: {
    framing: 'folder',
    decoderVersion: 1,
    incremental: 'diff',
    load: async () => (await load()).treeCode,
  },
  [storeKinds.database]: {
    framing: 'database',
    decoderVersion: 1,
    incremental: 'diff',
    load: async () => (await load()).databaseCode,
  },
});

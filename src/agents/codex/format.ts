/** How the files of Codex are read. */
import type { FormatCode } from '../agent.ts';
import { type RolloutProduct, rolloutDecoder, rolloutTotals } from './decode.ts';
import { mayHoldUsage } from './head.ts';
import { historyDecoder } from './history.ts';
import { claimLines, peekLinks, resolveFamily } from './kinship.ts';
import { documentDecoder } from './legacy-document.ts';
import { type RolloutOutline, readOutline } from './outline.ts';

/** Rollout files, which other products write too. */
export const rolloutCode = (product: RolloutProduct): FormatCode<RolloutOutline> => ({
  peek: peekLinks,
  claims: claimLines,
  resolve: resolveFamily,
  outline: readOutline,
  totals: { accepts: mayHoldUsage, decoder: rolloutTotals(product) },
  decoder: rolloutDecoder(product),
});

export const documentCode: FormatCode = { decoder: documentDecoder };
export const historyCode: FormatCode = { decoder: historyDecoder };

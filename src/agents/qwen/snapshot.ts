/** Whole-file snapshots of old versions: those of Gemini CLI, with a reply type of their own. */
import type { DecodeContext, Emitter } from '../agent.ts';
import { SnapshotDecoder as GeminiSnapshotDecoder } from '../gemini/snapshot.ts';

/** Overlaps are those of Gemini CLI: these versions knew no other provider's counters. */
export class SnapshotDecoder extends GeminiSnapshotDecoder {
  constructor(context: DecodeContext, out: Emitter) {
    super(context, out, null);
  }
}

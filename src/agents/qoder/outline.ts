/** Which rows are live: a record names the leaf of the conversation after every batch, and at a rewind. */
import type { Frame } from '../../framing/frame.ts';
import type { Outlined, SourceSpec } from '../agent.ts';
import { type ClaudeOutline, OutlineBuilder } from '../claude/outline.ts';
import { Row } from '../claude/row.ts';

/** The spelling of Claude Code for a leaf that is named. */
const leafMark = (uuid: string): Buffer =>
  Buffer.from(JSON.stringify({ type: 'last-prompt', explicit: true, leafUuid: uuid }));

export function outlineFrames(frames: Iterable<Frame>, source: SourceSpec): Outlined<ClaudeOutline> {
  const builder = new OutlineBuilder(source, null);
  const row = new Row('loose');
  const mark = new Row('loose');
  /** Messages so far that are no agent's. */
  const told: number[] = [];
  let isEmptied = false;
  for (const frame of frames) {
    if (!row.read(frame.bytes())) continue;
    const { ordinal } = frame;
    if (row.kind === 'other') {
      if (!row.equals('type', 'active-leaf') || row.isForeign('sessionId', source.name)) continue;
      const leaf = row.id('leafUuid');
      isEmptied = leaf === null && !row.has('leafUuid');
      // A leaf that no row has is as good as none; so is one that is named no more.
      if (mark.read(leafMark(leaf ?? ''))) builder.add(mark, ordinal);
      continue;
    }
    builder.add(row, ordinal);
    if (row.kind === 'progress' || row.isTrue('isSidechain')) continue;
    isEmptied = false;
    told.push(ordinal);
  }
  const { outline, links } = builder.finish(false);
  // Without a leaf all that came before was abandoned.
  return { outline: isEmptied ? { ...outline, inactive: Int32Array.from(told) } : outline, links };
}

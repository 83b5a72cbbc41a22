/** Usage and nothing else: most lines are passed by unparsed. Tells the same usage as `ClaudeDecoder`. */

import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import type { ClaudeOutline } from './outline.ts';
import { ReplyReader } from './reply-reader.ts';
import { Row } from './row.ts';
import { newSession } from './session.ts';
import { readState, saveState } from './state.ts';

export const isUsageOnly = ({ usage, messages, tool_calls, tool_results, sessions }: Emitter['wants']): boolean =>
  usage && !messages && !tool_calls && !tool_results && !sessions;

/** Every counter's name ends so, and in a string the quote would be escaped. */
export const COUNTER = Buffer.from('_tokens"');

export class UsageDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly row = new Row('strict');
  private readonly replies: ReplyReader;
  private readonly outline: ClaudeOutline | null;

  constructor(context: DecodeContext<ClaudeOutline>, out: Emitter) {
    this.out = out;
    this.outline = context.outline;
    this.replies = new ReplyReader(context, this.row, out);
    if (context.resume !== null) this.replies.restore(readState(context.resume, out.wants).waiting);
  }

  frame(frame: Frame): void {
    if (!frame.includes(COUNTER)) {
      // A line that was drained for its size must not pass unseen.
      if (frame.oversized === true) frame.json();
      return;
    }
    const { row, replies } = this;
    if (!row.read(frame.bytes())) {
      replies.noteLost(frame.ordinal);
      frame.json();
      return;
    }
    if (row.kind !== 'assistant' || !row.isObject('message') || replies.isDuplicate(frame.ordinal)) return;
    const uuid = row.id('uuid');
    replies.addUsage(replies.replyOf(frame.ordinal, uuid), frame, replies.place(frame), uuid);
  }

  save(): unknown {
    return saveState(this.outline?.tail ?? null, newSession(), this.replies.queue.waiting, this.out.wants);
  }

  finish(): void {
    this.replies.closeAll();
  }
}

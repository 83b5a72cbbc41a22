/** Rows of a response item, wherever it stands: in a rollout line or in a document of early 2025. */
import type { Emitter, EventAt } from '../agent.ts';
import { contentFault } from '../dialects/content-fault.ts';
import { field } from './guards.ts';
import type { RolloutLine } from './line.ts';
import { type MessageState, messageItem, reasoningItem } from './messages.ts';
import { toolResult } from './results.ts';
import { toolCall } from './tools.ts';
import { IGNORED } from './types.ts';

/** A record being told: where it stands, and what holds of its rows. */
export interface Told {
  readonly at: (slot: string) => EventAt;
  readonly state: () => MessageState;
}

/** Counts a line that carries no rows. */
export function countLine(line: RolloutLine, out: Emitter): void {
  if (IGNORED.has(line.name)) out.ignored(line.name);
  else out.unknown(line.name);
}

export function tellItem(line: RolloutLine, told: Told, out: Emitter): void {
  const { payload } = line;
  const type = line.payloadType ?? '';
  if (type === 'message') {
    const fields = messageItem(payload, told.state());
    if (fields === null)
      out.badRecord(told.at('message').position, 'no_role', 'The message has no role that is known.');
    else {
      const fault = contentFault(field(payload, 'content'));
      if (fault !== null) out.badRecord(told.at('message').position, 'wrong_type', fault);
      out.message(told.at('message'), fields);
    }
  } else if (type === 'reasoning') {
    const fields = reasoningItem(payload, told.state());
    if (fields !== null) out.message(told.at('message'), fields);
  } else tellTool(line, type, told, out);
}

function tellTool(line: RolloutLine, type: string, told: Told, out: Emitter): void {
  const { isCopy } = told.state();
  const call = toolCall(type, line.payload, isCopy);
  const result = call === null ? toolResult(type, line.payload, isCopy) : null;
  if (call !== null) out.toolCall(told.at('call'), call);
  else if (result !== null) out.toolResult(told.at('result'), result);
  else countLine(line, out);
}

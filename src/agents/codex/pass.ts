/** Which lines a decoder passes over by their heads: those that carry neither a wanted row nor any state. */
import type { LineHead } from './head.ts';
import { FAT_LINES, IGNORED, ITEM_TABLES, MIRROR_EVENTS, STATE_EVENTS } from './types.ts';

export interface Interest {
  readonly wants: Readonly<Record<'messages' | 'tool_calls' | 'tool_results', boolean>>;
  readonly reasoningInEvents: boolean;
}

/** Any line may end a copied region that is told by payloads, so that only the context may be passed then. */
export const mayPassInRegion = (head: LineHead): boolean => FAT_LINES.has(head.type);

/** `mirrorsCount`: no message stands in a response item, so that its mirrors are the messages. */
export function mayPass(head: LineHead, interest: Interest, mirrorsCount: boolean): boolean {
  const { type, payloadType } = head;
  if (type === 'response_item') return payloadType !== null && mayPassItem(payloadType, interest);
  if (type === 'event_msg') return payloadType !== null && mayPassEvent(payloadType, interest, mirrorsCount);
  return type !== 'turn_context' && IGNORED.has(type);
}

function mayPassItem(type: string, { wants }: Interest): boolean {
  const table = ITEM_TABLES.get(type);
  return table === undefined ? IGNORED.has(`response_item/${type}`) : !wants[table];
}

function mayPassEvent(type: string, { wants, reasoningInEvents }: Interest, mirrorsCount: boolean): boolean {
  if (type === 'token_count' || STATE_EVENTS.has(type)) return false;
  if (MIRROR_EVENTS.has(type)) return !mirrorsCount || !wants.messages;
  if (type === 'agent_reasoning_raw_content') return !reasoningInEvents || !wants.messages;
  return IGNORED.has(`event_msg/${type}`);
}

/** Under which a passed line is counted as ignored; null where it has rows that nobody wants. */
export function passedName({ type, payloadType }: LineHead): string | null {
  if (type === 'response_item') return ITEM_TABLES.has(payloadType ?? '') ? null : `${type}/${payloadType}`;
  return type === 'event_msg' ? `${type}/${payloadType}` : type;
}

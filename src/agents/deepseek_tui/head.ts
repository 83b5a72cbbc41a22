/** Facts of a session that stand before its messages, and by what its messages are known. */
import { hash53 } from '../../records/identity.ts';
import { type Json, nameField, numberField, objectField, stringField } from '../dialects/json.ts';

/** What stands before the messages: the session's own facts. */
export interface Head {
  readonly id: string | null;
  readonly metadata: Json;
  /** Messages at the beginning that a fork took over. */
  readonly forkedCount: number;
  /** The system prompt begins so once the oldest messages were dropped: all but the newest 500. */
  readonly isCut: boolean;
}

export function readHead(document: Json): Head {
  const metadata = objectField(document, 'metadata') ?? {};
  const forked = numberField(metadata, 'forked_from_message_count') ?? 0;
  return {
    id: nameField(metadata, 'id'),
    metadata,
    forkedCount: Number.isInteger(forked) && forked > 0 ? forked : 0,
    isCut: (stringField(document, 'system_prompt') ?? '').startsWith('[Session note]'),
  };
}

/** Messages have no ids: one is known by its place and what it holds, block for block. */
export const messageKey = (index: number, message: unknown): number => hash53(`${index} ${JSON.stringify(message)}`);

/** Whether places still are those of the whole history: a number of messages greater than theirs says that some went. */
export const isWhole = (head: Head, messages: number): boolean =>
  !head.isCut && (numberField(head.metadata, 'message_count') ?? messages) <= messages;

/** Conversations to what was said in them. No tokens and no models are recorded. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { type Blocks, readBlocks } from '../dialects/anthropic.ts';
import { RecordTree } from '../dialects/branches.ts';
import { isoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { asObject, field, type Json, listField, nameField, objectsField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';

/** Blocks that are known and say nothing: of the voice and of budgets. */
const SILENT: ReadonlySet<string> = new Set(['voice_note', 'token_budget']);

interface Placed {
  readonly message: Json;
  readonly index: number;
}

const idOf = (message: Json): string | null => nameField(message, 'uuid');
const parentOf = (message: Json): string | null => nameField(message, 'parent_message_uuid');

/**
 * Messages in reading order: where they name their parents, the branch that is seen from its root on, then the others
 * as they stand; else all as they stand.
 */
function inReadingOrder(conversation: Json, all: readonly Placed[]): { placed: Placed; isActive: boolean }[] {
  if (all.every(({ message }) => parentOf(message) === null)) return all.map((placed) => ({ placed, isActive: true }));
  const tree = new RecordTree();
  const byId = new Map<string, Placed>();
  for (const placed of all) {
    const id = idOf(placed.message);
    if (id === null) continue;
    tree.add(id, parentOf(placed.message));
    byId.set(id, placed);
  }
  const current = nameField(conversation, 'current_leaf_message_uuid');
  const { live } = tree.branch(current !== null && tree.has(current) ? current : undefined);
  const path = [...live].reverse().map((id) => ({ placed: byId.get(id)!, isActive: true }));
  const seen = new Set(path.map(({ placed }) => placed));
  return [...path, ...all.filter((one) => !seen.has(one)).map((placed) => ({ placed, isActive: false }))];
}

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  /** Of all messages of the file: reading order is not that of the file. */
  private messages = 0;

  constructor(_context: DecodeContext, out: Emitter) {
    this.out = out;
  }

  frame(frame: Frame): void {
    const conversation = asObject(frame.json());
    if (frame.locator === '') throw sourceError('foreign_schema', 'is no list of conversations');
    const sessionId = conversation === null ? null : nameField(conversation, 'uuid');
    if (conversation === null || sessionId === null || !Array.isArray(field(conversation, 'chat_messages'))) {
      const message = 'the element is no conversation: it has no uuid, or no list chat_messages';
      this.out.badRecord(frame.position(), 'wrong_type', message);
      return;
    }
    const placed = this.readMessages(conversation, frame);
    if (placed.length === 0) return;
    for (const { placed: one, isActive } of inReadingOrder(conversation, placed)) {
      const position = this.placeOf(frame, one.index, this.messages++);
      this.message(one.message, sessionId, position, isActive);
    }
    this.out.session(sessionFields({ session_id: sessionId, title: nameField(conversation, 'name') }));
  }

  finish(): void {}

  private readMessages(conversation: Json, frame: Frame): Placed[] {
    return listField(conversation, 'chat_messages').flatMap((value, index) => {
      const message = asObject(value);
      if (message !== null) return [{ message, index }];
      const position = this.placeOf(frame, index, frame.ordinal);
      this.out.badRecord(position, 'wrong_type', 'the message is no object');
      return [];
    });
  }

  private placeOf(frame: Frame, index: number, ordinal: number): Position {
    return { ordinal, byteStart: null, byteEnd: null, locator: `${frame.locator}/chat_messages/${index}` };
  }

  private message(message: Json, sessionId: string, position: Position, isActive: boolean): void {
    const id = idOf(message);
    const time = isoTime(field(message, 'created_at'));
    const at = (slot: string): EventAt => eventAt(sessionId, id, slot, position, time);
    reportContent(field(message, 'content'), position, this.out);
    const blocks = this.blocksOf(message);
    const hasOther = blocks.thinking !== null || blocks.calls.length > 0 || blocks.results.length > 0;
    // Old messages, and those whose blocks hold nothing, say what they say here.
    const text =
      blocks.text ?? (hasOther ? null : stringField(message, 'text')?.trim() ? stringField(message, 'text') : null);
    if (text !== null || blocks.thinking !== null) {
      this.out.message(
        at('message'),
        messageFields({
          role: stringField(message, 'sender') === 'human' ? 'user' : 'assistant',
          message_id: id,
          record_id: id,
          parent_record_id: parentOf(message),
          kind: 'message',
          text,
          thinking: blocks.thinking,
          is_active: isActive,
          content_kinds: blocks.kinds.length > 0 ? [...blocks.kinds] : ['text'],
        }),
      );
    }
    tellCalls(blocks.calls, { at, messageId: id }, this.out);
    tellResults(blocks.results, { at }, this.out);
  }

  private blocksOf(message: Json): Blocks {
    const content = objectsField(message, 'content').filter((block) => {
      const type = stringField(block, 'type') ?? '';
      if (SILENT.has(type)) this.out.ignored(`content/${type}`);
      const isBlank = type === 'text' && (stringField(block, 'text') ?? '').trim() === '';
      return !SILENT.has(type) && !isBlank;
    });
    return readBlocks(content, (type) => this.out.unknown(type));
  }
}

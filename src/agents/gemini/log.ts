/** The event log: messages, and lines that change, remove or reorder messages before them. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { field, type Json, nameField, objectField, objectsField, stringField } from '../dialects/json.ts';
import { COMPRESSION_REPLY, idsField, type Message, patched, readMessage, tellMessage } from './message.ts';
import { SessionFacts } from './session.ts';

interface Held {
  message: Message;
  /** Where the id was first seen. */
  readonly position: Position;
  /** Set once it was taken for part of a compression; stays when it leaves the list. */
  isMeta: boolean;
}

/** Keys of metadata in `$set` lines, besides `messages`. */
const LOG_KEYS = ['$rewindTo', '$patch', '$set'];

export class LogDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly facts: SessionFacts;
  /** All messages ever seen, in order of first sight. */
  private readonly all = new Map<string, Held>();
  /** Keys of those in the conversation, in its order. */
  private live = new Set<string>();
  private unnamed = 0;

  constructor(context: DecodeContext, out: Emitter) {
    this.out = out;
    this.facts = new SessionFacts(context.source);
  }

  frame(frame: Frame): void {
    const line = objectOrReport(frame, this.out);
    if (line === null) return;
    const position = frame.position();
    // The order of these tests is the writer's.
    const rewindTo = stringField(line, '$rewindTo');
    const patch = objectField(line, '$patch');
    const set = objectField(line, '$set');
    if (rewindTo !== null) this.rewind(rewindTo);
    else if (patch !== null) this.patch(patch);
    else if (stringField(line, 'id') !== null) this.put(line, position);
    else if (set !== null) this.set(set, position);
    else if (stringField(line, 'sessionId') !== null || stringField(line, 'projectHash') !== null)
      this.header(line, position);
    else if (stringField(line, 'type') !== null) this.put(line, position);
    else this.out.unknown(Object.keys(line).find((key) => LOG_KEYS.includes(key)) ?? '(unknown line)');
  }

  finish(): void {
    const told = { calls: new Set<string>(), results: new Set<string>() };
    const { live } = this;
    const tell = (held: Held, isActive: boolean, ordinal: number): void =>
      tellMessage(
        held.message,
        {
          sessionId: this.facts.id,
          position: { ...held.position, ordinal },
          isActive,
          isMeta: held.isMeta || held.message.isMeta,
          told,
        },
        this.out,
      );
    const places = this.places();
    // Original records first: calls that were entered again belong to them.
    for (const [key, held] of this.all) tell(held, live.has(key), places.get(key) ?? held.position.ordinal);
    if (this.all.size > 0 || this.facts.hasHeader) this.facts.tell(this.out);
  }

  /**
   * Ordinals of live messages rise in the order of the conversation, which a patch may have changed: each has that of
   * its line, or one more than the message before it.
   */
  private places(): ReadonlyMap<string, number> {
    const places = new Map<string, number>();
    let last = -1;
    for (const key of this.live) {
      last = Math.max(this.all.get(key)!.position.ordinal, last + 1);
      places.set(key, last);
    }
    return places;
  }

  private header(line: Json, position: Position): void {
    this.facts.header(line);
    // A snapshot of the old kind on one line adds its messages; nothing leaves.
    for (const message of objectsField(line, 'messages')) this.put(message, position);
  }

  private put(record: Json, position: Position): void {
    const message = readMessage(record, this.out, position);
    if (message === null) return;
    const key = message.id ?? `\u0000${this.unnamed++}`;
    const before = this.all.get(key);
    if (before === undefined) this.all.set(key, { message, position, isMeta: false });
    // A version without counters does not take back those of an earlier one.
    else before.message = { ...message, tokens: message.tokens ?? before.message.tokens };
    // Written again, a message keeps its place; one that had left comes back at the end.
    this.live.add(key);
    this.markCompression(key);
  }

  /** The program's own reply to a compression, and the summary before it. */
  private markCompression(key: string): void {
    const held = this.all.get(key)!;
    if (held.message.type !== 'assistant' || held.message.text !== COMPRESSION_REPLY) return;
    held.isMeta = true;
    const order = [...this.live];
    const before = this.all.get(order[order.lastIndexOf(key) - 1] ?? '');
    if (before?.message.type === 'user') before.isMeta = true;
  }

  /** The target leaves too; one that is not in the list empties it (writer). */
  private rewind(target: string): void {
    let isLeaving = !this.live.has(target);
    for (const key of this.live) {
      isLeaving ||= key === target;
      if (isLeaving) this.live.delete(key);
    }
  }

  private set(set: Json, position: Position): void {
    this.facts.header(set);
    const messages = field(set, 'messages');
    if (messages === undefined) return;
    if (!Array.isArray(messages)) {
      this.out.issue('warning', 'wrong_type', '`$set.messages` is no list and was passed by', position);
      return;
    }
    this.live.clear();
    for (const message of objectsField(set, 'messages')) this.put(message, position);
  }

  private patch(patch: Json): void {
    const updates = [...(nameField(patch, 'id') === null ? [] : [patch]), ...objectsField(patch, 'updates')];
    for (const update of updates) {
      const held = this.all.get(nameField(update, 'id') ?? '');
      if (held !== undefined) held.message = patched(held.message, update, this.out);
    }
    for (const key of idsField(patch, 'removeIds')) this.live.delete(key);
    for (const key of idsField(patch, 'orderIds')) if (this.live.delete(key)) this.live.add(key);
  }
}

/** Entries of a conversation to what they say: each may hold messages as pi writes them. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Emitter, SessionFields } from '../agent.ts';
import { dig, field, type Json, objectsField, stringField } from '../dialects/json.ts';
import { type Origin, PiDecoder } from '../pi_agent/decode.ts';
import type { PiOutline } from '../pi_agent/outline.ts';

/** What is known of a conversation; it may grow while its entries are read. */
export interface Conversation {
  readonly sessionId: string;
  origin: Origin | null;
  cwd: string | null;
}

/** Kinds whose messages a person, a model or a tool said; in all others the program did. */
const SAID = new Set(['pi.user', 'pi.assistant', 'pi.tool-result']);

/** Entries and conversations are known by numbers that are unique in their store. */
export const idField = (record: Json, key: string): string | null => {
  const value = field(record, key);
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : null;
};

/** The working directory that a `pi.system` entry names; null where it names none, or no absolute one. */
export function systemFolder(section: unknown): string | null {
  if (typeof section !== 'string') return null;
  const path = section.replace(/^\s*Working directory:/i, '').trim();
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path) ? path : null;
}

export const systemFolderOf = (entry: Json): string | null => {
  const [first] = objectsField(entry, 'model');
  return systemFolder(dig(first, 'sections', 'cwd'));
};

export class ConversationDecoder extends PiDecoder {
  private readonly conversation: Conversation;
  private isSaid = true;

  constructor(context: DecodeContext, out: Emitter, conversation: Conversation) {
    super({ ...context, outline: null } as DecodeContext<PiOutline>, out, { resume: null });
    this.conversation = conversation;
  }

  protected override get sessionId(): string {
    return this.conversation.sessionId;
  }

  protected override origin(): Origin | null {
    return this.conversation.origin;
  }

  protected override facts(): Partial<SessionFields> {
    return { cwd: this.conversation.cwd };
  }

  protected override standing(): 'said' | 'injected' {
    return this.isSaid ? 'said' : 'injected';
  }

  tellEntry(entry: Json, frame: Frame): void {
    const id = idField(entry, 'id');
    const kind = stringField(entry, 'kind') ?? '';
    const messages = kind === 'pi.system' ? [] : objectsField(entry, 'model');
    this.isSaid = SAID.has(kind);
    // Bookkeeping: what it changes of the context changes no message.
    if (messages.length === 0) this.frame(new RecordFrame(frame, { type: 'custom', id }));
    messages.forEach((message, index) => {
      const record = { type: 'message', id: id !== null && index > 0 ? `${id}/${index}` : id, message };
      this.frame(new RecordFrame(frame, record));
    });
  }
}

/** A frame that stands for one message of the entry in it. */
class RecordFrame implements Frame {
  readonly ordinal: number;
  readonly byteStart: number | null;
  readonly byteEnd: number | null;
  readonly locator: string | null;
  private readonly frame: Frame;
  private readonly record: Json;

  constructor(frame: Frame, record: Json) {
    this.frame = frame;
    this.record = record;
    ({ ordinal: this.ordinal, byteStart: this.byteStart, byteEnd: this.byteEnd, locator: this.locator } = frame);
  }

  json(): unknown {
    return this.record;
  }

  bytes(): Buffer {
    return this.frame.bytes();
  }

  includes(needle: Buffer): boolean {
    return this.frame.includes(needle);
  }

  position(): Position {
    return this.frame.position();
  }
}

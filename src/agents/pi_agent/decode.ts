/** Entries of a session to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, SessionFields } from '../agent.ts';
import { epochTime, isoTime, parseIsoTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { boolField, field, type Json, nameField, objectField, stringField } from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  resumeCommand,
  sessionFields,
  type Time,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { type Content, readContent } from './content.ts';
import type { PiOutline } from './outline.ts';
import { isHeader } from './outline.ts';
import { idOfName } from './paths.ts';
import { tellUsage } from './usage.ts';

/** What differs between pi and the products that write the same files. */
export interface PiProduct {
  /** Command that takes a session up again, the id follows; null where it is not known. */
  readonly resume: string | null;
  /** Entry types besides pi's that carry no rows. */
  readonly silent?: readonly string[];
}

/** Where a session came from. */
export interface Origin {
  /** Null where the parent's file is gone and nothing else names it. */
  readonly id: string | null;
  readonly kind: 'fork' | 'subagent' | 'main';
}

/** An entry as it is told. */
export interface Entry {
  readonly id: string | null;
  readonly record: Json;
  readonly position: Position;
  readonly sessionId: string;
  /** Inherited from the session that this one was forked from. */
  readonly isCopy: boolean;
  readonly isActive: boolean;
  /** Of the entry itself. */
  readonly stored: Time;
}

/** Entry types that carry no rows. */
const SILENT = new Set(['model_change', 'thinking_level_change', 'custom', 'label', 'session_info', 'context_edit']);

export class PiDecoder implements Decoder {
  protected readonly out: Emitter;
  protected readonly context: DecodeContext<PiOutline>;
  private readonly product: PiProduct;
  private readonly outline: PiOutline;
  protected header: Json | null = null;
  protected title: string | null = null;
  private lastModel: string | null = null;
  private hasEntries = false;
  private isReported = false;

  constructor(context: DecodeContext<PiOutline>, out: Emitter, product: PiProduct) {
    this.context = context;
    this.out = out;
    this.product = product;
    this.outline = context.outline ?? { isSession: true, live: null, isBroken: false, isCut: false, damage: null };
    if (this.outline.isBroken)
      out.issue(
        'warning',
        'broken_branch',
        'an entry refers to one that is not in the file; all entries count as live',
      );
    if (this.outline.isCut)
      out.issue('warning', 'cut_session', 'the head of the session was cut off by its writer; what was there is lost');
  }

  frame(frame: Frame): void {
    if (!this.outline.isSession) {
      // Other programs' files may lie here: only a session header makes one pi's.
      this.out.ignored('line of a file without a session header');
      return;
    }
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    if (isHeader(record)) {
      this.takeHeader(record);
      return;
    }
    if (this.outline.damage === 'missing' && !this.isReported) {
      this.isReported = true;
      const message = 'the file does not begin with the header of a session: id and folder are told by its name alone';
      this.out.badRecord(frame.position(), 'no_header', message);
    }
    if (stringField(record, 'type') === 'session') {
      this.out.ignored('session');
      return;
    }
    this.tell(this.entry(record, frame.position()));
  }

  finish(): void {
    const { header } = this;
    if (header === null && !this.hasEntries) return;
    const origin = this.origin();
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: origin === null ? null : origin.id,
        kind: origin === null ? 'main' : origin.kind,
        title: this.titleOf(),
        cwd: header === null ? null : nameField(header, 'cwd'),
        resume_command: this.product.resume === null ? null : resumeCommand(this.product.resume, this.sessionId),
        ...this.facts(),
      }),
    );
  }

  private takeHeader(record: Json): void {
    if (this.header !== null) {
      this.out.ignored('session');
      return;
    }
    this.header = record;
    this.lastModel = nameField(record, 'modelId');
    const version = field(record, 'version');
    if (typeof version === 'number' && version > 3)
      this.out.issue('warning', 'newer_version', `the session is of version ${version}; what is known of it was read`);
  }

  protected get sessionId(): string {
    const { name } = this.context.source;
    if (this.header !== null) return nameField(this.header, 'id') ?? name;
    return this.outline.damage === null ? name : (idOfName(name) ?? name);
  }

  protected titleOf(): string | null {
    return this.title;
  }

  /** What a product knows of a session besides. */
  protected facts(): Partial<SessionFields> {
    return {};
  }

  /** When an entry was stored. */
  protected storedTime(record: Json): Time {
    return isoTime(field(record, 'timestamp'));
  }

  /** Of a reply. */
  protected modelOf(_entry: Entry, message: Json): string | null {
    return nameField(message, 'model') ?? this.lastModel;
  }

  /** The session that this one came from; null where it began by itself. */
  protected origin(): Origin | null {
    const parent = this.parentPath();
    return parent === null ? null : { id: idOfName(parent) ?? parent, kind: 'fork' };
  }

  protected parentPath(): string | null {
    const { header } = this;
    return header === null ? null : (nameField(header, 'parentSession') ?? nameField(header, 'branchedFrom'));
  }

  private entry(record: Json, position: Position): Entry {
    this.hasEntries = true;
    const id = nameField(record, 'id');
    const stored = this.storedTime(record);
    const created = this.header === null ? null : parseIsoTime(field(this.header, 'timestamp'));
    const { live } = this.outline;
    const origin = this.origin();
    return {
      id,
      record,
      position,
      sessionId: this.sessionId,
      isCopy:
        origin !== null &&
        origin.kind !== 'subagent' &&
        created !== null &&
        stored.timestamp !== null &&
        stored.timestamp < created,
      isActive: live === null || id === null || live.has(id),
      stored,
    };
  }

  private tell(entry: Entry): void {
    const type = stringField(entry.record, 'type') ?? '';
    switch (type) {
      case 'message':
        this.tellMessage(entry);
        break;
      case 'custom_message':
        this.tellText(entry, readContent(field(entry.record, 'content'), this.out), type);
        break;
      case 'compaction':
      case 'branch_summary':
        this.tellText(entry, readContent(field(entry.record, 'summary'), this.out), type);
        this.tellUsageOf(entry, entry.record, type, this.lastModel);
        break;
      case 'usage':
        this.out.ignored(type);
        this.tellUsageOf(entry, entry.record, stringField(entry.record, 'kind') ?? type, null);
        break;
      default:
        if (!this.tellOther(entry, type)) this.note(type, entry.record);
    }
  }

  /** An entry of a type that pi has not; false where the product has it neither. */
  protected tellOther(_entry: Entry, _type: string): boolean {
    return false;
  }

  /** A message of a role that pi has not; false where the product has it neither. */
  protected tellOtherRole(_entry: Entry, _message: Json, _role: string, _content: Content): boolean {
    return false;
  }

  /** Whether a person or a model said this, the program in their name, or it is a reply's text sent on once more. */
  protected standing(_message: Json): 'said' | 'injected' | 'mirror' {
    return 'said';
  }

  protected tellUsageOf(entry: Entry, holder: Json, kind: string, model: string | null): void {
    tellUsage(entry, holder, kind, model, this.out);
  }

  private note(type: string, record: Json): void {
    if (type === 'model_change') this.lastModel = nameField(record, 'modelId') ?? this.lastModel;
    if (type === 'session_info') this.title = stringField(record, 'name')?.trim() || null;
    if (SILENT.has(type) || this.product.silent?.includes(type) === true) this.out.ignored(type);
    else this.out.unknown(type === '' ? '(no type)' : type);
  }

  private at(entry: Entry, slot: string, time: Time): ReturnType<typeof eventAt> {
    return eventAt(entry.sessionId, entry.id, slot, entry.position, time);
  }

  /** Of a message: when the request began; the entry's own time is when it was stored. */
  private timeOf(entry: Entry, message: Json | null): Time {
    const own = message === null ? undefined : field(message, 'timestamp');
    return typeof own === 'number' ? epochTime(own, 'ms') : entry.stored;
  }

  /** What the program put in: shown to the model as if a person had typed it. */
  protected tellText(entry: Entry, content: Content, kind: string, text = content.text): void {
    if (text === null && content.kinds.length === 0) return;
    this.out.message(
      this.at(entry, 'message', this.timeOf(entry, objectField(entry.record, 'message'))),
      messageFields({
        role: 'user',
        is_copy: entry.isCopy,
        record_id: entry.id,
        parent_record_id: nameField(entry.record, 'parentId'),
        kind,
        text,
        is_meta: true,
        is_active: entry.isActive,
        content_kinds: content.kinds.length === 0 ? ['text'] : [...content.kinds],
      }),
    );
  }

  protected tellMessage(entry: Entry): void {
    const message = objectField(entry.record, 'message');
    if (message === null) {
      this.out.badRecord(entry.position, 'wrong_type', 'the message entry holds no message object');
      return;
    }
    const role = stringField(message, 'role') ?? '';
    reportContent(field(message, 'content'), entry.position, this.out);
    const content = readContent(field(message, 'content'), this.out);
    switch (role) {
      case 'user':
      case 'assistant':
        this.tellTurn(entry, message, role, content);
        break;
      case 'toolResult':
        this.tellResult(entry, message, content);
        break;
      case 'bashExecution': {
        const output = stringField(message, 'output') ?? '';
        const command = stringField(message, 'command') ?? '';
        this.tellText(entry, content, role, output === '' ? command : `${command}\n${output}`);
        break;
      }
      case 'custom':
      case 'hookMessage':
        this.tellText(entry, content, role);
        break;
      case 'system':
        this.out.ignored('message/system');
        break;
      default:
        if (!this.tellOtherRole(entry, message, role, content))
          this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
    }
  }

  private tellTurn(entry: Entry, message: Json, role: 'user' | 'assistant', content: Content): void {
    const { out } = this;
    const time = this.timeOf(entry, message);
    const standing = this.standing(message);
    const model = role === 'assistant' && standing !== 'mirror' ? this.modelOf(entry, message) : null;
    if (content.text !== null || content.thinking !== null || content.kinds.length > 0) {
      out.message(
        this.at(entry, 'message', time),
        messageFields({
          role,
          is_copy: entry.isCopy,
          message_id: nameField(message, 'responseId'),
          record_id: entry.id,
          parent_record_id: nameField(entry.record, 'parentId'),
          kind: 'message',
          model,
          text: content.text,
          thinking: content.thinking,
          is_meta: standing !== 'said',
          is_active: entry.isActive,
          content_kinds: [...content.kinds],
        }),
      );
    }
    content.calls.forEach((call, index) => {
      out.toolCall(
        this.at(entry, `call:${call.id ?? index}`, time),
        toolCallFields({
          is_copy: entry.isCopy,
          message_id: nameField(message, 'responseId'),
          call_id: call.id,
          ...identifyTool(call.name, call.input),
          arguments: call.arguments,
        }),
      );
    });
    if (role === 'assistant' && standing !== 'mirror') this.tellUsageOf(entry, message, 'message', model);
  }

  private tellResult(entry: Entry, message: Json, content: Content): void {
    const callId = nameField(message, 'toolCallId');
    this.out.toolResult(
      this.at(entry, 'result', this.timeOf(entry, message)),
      toolResultFields({
        is_copy: entry.isCopy,
        call_id: callId,
        is_error: boolField(message, 'isError'),
        output: content.text,
        output_json: objectField(message, 'details') === null ? null : JSON.stringify(field(message, 'details')),
      }),
    );
    // A tool that asks a model itself is billed too.
    this.tellUsageOf(entry, message, 'toolResult', null);
  }
}

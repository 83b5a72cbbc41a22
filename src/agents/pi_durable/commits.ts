/** The store as files: a log of commits, and beside it the contents of documents. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  asObject,
  dig,
  field,
  type Json,
  nameField,
  numberField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { agentOf, type FolderEntry, type Link, linkOf, visibleFolder } from './conversations.ts';
import { type Conversation, ConversationDecoder, idField, systemFolderOf } from './entries.ts';

interface Reading {
  readonly conversation: Conversation;
  readonly decoder: ConversationDecoder;
}

export class CommitDecoder implements Decoder {
  private readonly context: DecodeContext;
  private readonly out: Emitter;
  private readonly readings = new Map<string, Reading>();
  private readonly links = new Map<string, Link>();
  private readonly folders: FolderEntry[] = [];
  /** Conversations by the document that is their agent's. */
  private readonly agents = new Map<string, string>();
  /** What of the documents' contents was committed. */
  private readonly markers = new Set<string>();
  private isEnded = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    if (this.isEnded) {
      this.out.ignored('line after a damaged one');
      return;
    }
    let commit: Json | null;
    try {
      commit = objectOrReport(frame, this.out);
    } catch (error) {
      // A commit builds on those before it.
      if (error instanceof ScopedError) this.isEnded = true;
      throw error;
    }
    if (commit === null) return;
    const type = stringField(commit, 'type') ?? '(no type)';
    if (type !== 'commit') {
      this.out.unknown(type);
      return;
    }
    const seq = numberField(commit, 'seq');
    for (const write of objectsField(commit, 'writes')) this.take(write, seq, frame);
  }

  finish(): void {
    const agents = this.agentFolders();
    for (const [id, { conversation, decoder }] of this.readings) {
      const link = this.links.get(id) ?? null;
      conversation.origin = link === null ? null : { id: this.sessionOf(link.id), kind: link.kind };
      conversation.cwd = agents.get(id) ?? visibleFolder(id, this.folders, this.links);
      decoder.finish();
    }
  }

  private take(write: Json, seq: number | null, frame: Frame): void {
    const type = stringField(write, 'type') ?? '(no type)';
    const value = objectField(write, 'value') ?? {};
    const mark = (id: string | null): void => {
      if (id !== null) this.markers.add(markerOf(id, seq, field(write, 'ordinal')));
    };
    switch (type) {
      case 'conversation': {
        const [id, link] = [idField(value, 'id'), linkOf(value)];
        if (id !== null && link !== null) this.links.set(id, link);
        return;
      }
      case 'entry':
        this.takeEntry(value, frame);
        return;
      case 'document.create': {
        const record = objectField(write, 'record') ?? {};
        const [id, conversation] = [idField(record, 'id'), agentOf(record)];
        if (id !== null && conversation !== null) this.agents.set(id, conversation);
        mark(id);
        break;
      }
      case 'document.change':
        mark(idField(write, 'id'));
        break;
      case 'document.retire':
        this.agents.delete(idField(write, 'id') ?? '');
        break;
      default:
        if (!type.startsWith('task') && !type.startsWith('inbox') && !type.startsWith('submission')) {
          this.out.unknown(`write/${type}`);
          return;
        }
    }
    this.out.ignored(`write/${type}`);
  }

  private takeEntry(entry: Json, frame: Frame): void {
    const id = idField(entry, 'conversationId');
    if (id === null) {
      this.out.badRecord(frame.position(), 'wrong_type', 'the entry is of no conversation');
      return;
    }
    const cwd = stringField(entry, 'kind') === 'pi.system' ? systemFolderOf(entry) : null;
    if (cwd !== null) this.folders.push({ id: numberField(entry, 'id') ?? 0, conversationId: id, cwd });
    let reading = this.readings.get(id);
    if (reading === undefined) {
      const conversation: Conversation = { sessionId: this.sessionOf(id), origin: null, cwd: null };
      reading = { conversation, decoder: new ConversationDecoder(this.context, this.out, conversation) };
      this.readings.set(id, reading);
    }
    reading.decoder.tellEntry(entry, frame);
  }

  private sessionOf(conversationId: string): string {
    return `${this.context.source.name}:${conversationId}`;
  }

  /** Working directories in the newest contents of the agents' documents. */
  private agentFolders(): Map<string, string> {
    const folders = new Map<string, string>();
    for (const [document, conversation] of this.agents) {
      const bytes = this.context.sidecars[`doc-${document}.jsonl`];
      let newest = -1;
      for (const line of bytes?.toString('utf8').split('\n') ?? []) {
        const record = asObject(parseOrUndefined(line)) ?? {};
        const content = asObject(dig(record, 'payload', 'content')) ?? {};
        const seq = numberField(record, 'seq');
        if (seq === null || seq < newest || stringField(content, 'kind') !== 'base') continue;
        if (!this.markers.has(markerOf(document, seq, field(record, 'ordinal')))) continue;
        const value = objectField(content, 'value');
        const cwd = value === null ? null : nameField(value, 'cwd');
        newest = seq;
        if (cwd !== null) folders.set(conversation, cwd);
        else folders.delete(conversation);
      }
    }
    return folders;
  }
}

const markerOf = (document: string, seq: number | null, ordinal: unknown): string =>
  `${document} ${seq} ${String(ordinal)}`;

/** Decodes a session or agent file: one row a line, replies spread over several rows. */

import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { blocksOf, blockType, isToolCall, isToolResult, rawInputs, readToolCall, readToolResult } from './blocks.ts';
import { asObject, field, type Json, objectField, stringField } from './guards.ts';
import { OrdinalCursor } from './id-table.ts';
import type { ClaudeOutline } from './outline.ts';
import { isInjected, readDisguisedPrompt } from './prompts.ts';
import type { Reply, ReplyRow, RowPlace } from './reply.ts';
import { ReplyReader } from './reply-reader.ts';
import { Row } from './row.ts';
import { newSession, noteFact, noteRow, readMeta, type SessionState, toSession } from './session.ts';
import { readState, saveState } from './state.ts';
import { isFactType, isKnownType } from './types.ts';
import { isSynthetic } from './usage.ts';

/** Lines from this size on are parsed by framing, which has the memory of all workers in view. */
const LARGE_LINE = 4 * 1024 * 1024;

export class ClaudeDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly row = new Row('strict');
  private readonly replies: ReplyReader;
  private readonly inactive: OrdinalCursor;
  private readonly outline: ClaudeOutline | null;
  private readonly meta: Record<string, string> | null;
  private readonly session: SessionState;
  private readonly wantsMessages: boolean;
  private readonly wantsCalls: boolean;
  private readonly wantsResults: boolean;

  constructor(context: DecodeContext<ClaudeOutline>, out: Emitter) {
    this.out = out;
    this.outline = context.outline;
    this.replies = new ReplyReader(context, this.row, out);
    this.inactive = new OrdinalCursor(context.outline?.inactive ?? new Int32Array(0));
    // Sessions count their messages and calls, so that these are told for them too.
    this.wantsMessages = out.wants.messages || out.wants.sessions;
    this.wantsCalls = out.wants.tool_calls || out.wants.sessions;
    this.wantsResults = out.wants.tool_results || out.wants.sessions;
    this.meta = this.readSidecar(context.sidecars['meta']);
    const state = context.resume === null ? null : readState(context.resume, out.wants);
    this.session = state?.session ?? newSession();
    if (state !== null) this.replies.restore(state.waiting);
  }

  frame(frame: Frame): void {
    const { row, replies } = this;
    if (!row.read(frame.bytes())) {
      this.tellUnreadable(frame);
      return;
    }
    if (row.kind === 'other') {
      this.readFact(frame);
      return;
    }
    const uuid = row.id('uuid');
    const isCopy = replies.isCopy(uuid);
    noteRow(this.session, row, replies.facts, !isCopy && !replies.looksCopied());
    if (replies.isDuplicate(frame.ordinal)) return;
    if (row.kind === 'assistant') this.readReplyRow(frame, uuid, isCopy);
    else if (row.kind === 'user') this.readUserRow(frame, uuid, isCopy);
    else if (!row.isDisguisedPrompt() || !this.readDisguised(frame, uuid, isCopy)) this.out.ignored(row.kind);
  }

  save(): unknown {
    return saveState(this.outline?.tail ?? null, this.session, this.replies.queue.waiting, this.out.wants);
  }

  finish(): void {
    this.replies.closeAll();
    if (!this.session.hasRows || !this.out.wants.sessions) return;
    this.out.session(toSession(this.session, this.replies.facts, this.meta));
  }

  private readSidecar(sidecar: Buffer | undefined): Record<string, string> | null {
    if (sidecar === undefined) return null;
    const meta = readMeta(sidecar);
    if (meta === null)
      this.out.issue('warning', 'bad_sidecar', "the agent's meta.json is not a JSON object; it was passed by");
    return meta;
  }

  private tellUnreadable(frame: Frame): void {
    this.replies.noteLost(frame.ordinal);
    // Throws where the line is no JSON.
    const isObject = asObject(frame.json()) !== null;
    this.out.badRecord(
      frame.position(),
      isObject ? 'malformed_json' : 'not_an_object',
      'the line is not one JSON object',
    );
  }

  /** A row about the session. */
  private readFact(frame: Frame): void {
    const type = this.row.text('type');
    if (type === null || !isKnownType(type)) {
      this.out.unknown(type ?? '(no type)');
      return;
    }
    this.out.ignored(type);
    const isTitle = frame.ordinal === this.outline?.summary;
    if (!isTitle && !isFactType(type)) return;
    const record = asObject(frame.json());
    if (record === null) return;
    if (isTitle) this.session.summary = stringField(record, 'summary');
    else noteFact(this.session, type, record, this.replies.facts.sessionId);
  }

  /** The blocks of `message.content`, none where it is absent. Reports what in them has the wrong type, once. */
  private blocks(frame: Frame): Json[] {
    const content = this.content(frame);
    // What is neither text nor list was reported with its row.
    if (Array.isArray(content)) reportContent(content, frame.position(), this.out);
    return blocksOf(content);
  }

  private content(frame: Frame): unknown {
    if (frame.bytes().length < LARGE_LINE) return this.row.parse('message.content');
    const message = objectField(asObject(frame.json()) ?? {}, 'message');
    return message === null ? undefined : field(message, 'content');
  }

  /** Whether the row has a message; reports it where it has none. */
  private hasMessage(frame: Frame): boolean {
    if (!this.row.isObject('message')) {
      this.out.badRecord(frame.position(), 'no_message', `a row of type ${this.row.kind} without a message`);
      return false;
    }
    // The row still counts: an assistant's has usage.
    if (!this.row.isContent('message.content'))
      this.out.badRecord(frame.position(), 'no_content', 'message.content is neither text nor a list of blocks');
    return true;
  }

  private readReplyRow(frame: Frame, uuid: string | null, isCopy: boolean): void {
    if (!this.hasMessage(frame)) return;
    const place = this.replies.place(frame);
    const reply = this.replies.replyOf(frame.ordinal, uuid);
    reply.addRow(this.replyRow(place, uuid, isCopy));
    if (this.out.wants.usage || this.out.wants.sessions) this.replies.addUsage(reply, frame, place, uuid);
    if (this.wantsMessages || this.wantsCalls || this.wantsResults) this.addBlocks(reply, frame, place, isCopy);
  }

  private replyRow(place: RowPlace, uuid: string | null, isCopy: boolean): ReplyRow {
    const { row } = this;
    return {
      place,
      uuid,
      parentUuid: row.id('parentUuid'),
      model: row.id('message.model'),
      isSynthetic: isSynthetic(row),
      isError: row.isTrue('isApiErrorMessage'),
      isSidechain: this.replies.isSidechain(),
      isActive: !this.inactive.has(place.position.ordinal),
      isCopy,
    };
  }

  private addBlocks(reply: Reply, frame: Frame, place: RowPlace, isCopy: boolean): void {
    let inputs: (Uint8Array | null)[] | null = null;
    this.blocks(frame).forEach((block, index) => {
      const type = blockType(block);
      reply.addKind(type);
      if (type === 'text') reply.addText('texts', stringField(block, 'text') ?? '');
      else if (type === 'thinking') reply.addText('thinking', stringField(block, 'thinking') ?? '');
      else if (isToolCall(type) && this.wantsCalls) {
        inputs ??= rawInputs(this.row);
        this.addCall(reply, block, inputs[index] ?? null, frame, place, isCopy);
      } else if (isToolResult(type) && this.wantsResults) this.addServerResult(reply, block, frame, place, isCopy);
    });
  }

  private addCall(
    reply: Reply,
    block: Json,
    input: Uint8Array | null,
    frame: Frame,
    place: RowPlace,
    isCopy: boolean,
  ): void {
    const { id, name, kind } = readToolCall(block);
    const slot = reply.slotOf('call', id);
    if (slot === null) return;
    const fields = { is_copy: isCopy, message_id: reply.state.messageId, call_id: id, name, kind, arguments: input };
    this.replies.queue.push({ kind: 'call', at: reply.at(slot, place), fields }, frame.bytes().length);
  }

  /** The result of a tool that the server ran stands in the reply itself, and its content is structured. */
  private addServerResult(reply: Reply, block: Json, frame: Frame, place: RowPlace, isCopy: boolean): void {
    const { callId, isError, output } = readToolResult(block);
    const slot = reply.slotOf('result', callId);
    if (slot === null) return;
    const content = field(block, 'content');
    const json = typeof content === 'object' && content !== null ? JSON.stringify(content) : null;
    const fields = { is_copy: isCopy, call_id: callId, is_error: isError, output, output_json: json };
    this.replies.queue.push({ kind: 'result', at: reply.at(slot, place), fields }, frame.bytes().length);
  }

  private readUserRow(frame: Frame, uuid: string | null, isCopy: boolean): void {
    if (!this.hasMessage(frame)) return;
    if (!this.wantsMessages && !this.wantsResults) return;
    const texts: string[] = [];
    const kinds: string[] = [];
    const results: Json[] = [];
    for (const block of this.blocks(frame)) {
      const type = blockType(block);
      if (isToolResult(type)) results.push(block);
      else if (type === 'text') {
        const text = stringField(block, 'text');
        if (text !== null && text !== '') texts.push(text);
      }
      if (type !== '' && !kinds.includes(type)) kinds.push(type);
    }
    const text = texts.join('\n');
    const place = this.replies.place(frame);
    if (text !== '' && this.wantsMessages) {
      const kind = this.row.isTrue('isCompactSummary')
        ? 'compact_summary'
        : this.replies.isSidechain()
          ? 'sidechain'
          : 'user';
      this.tellPrompt(frame, place, uuid, isCopy, { kind, text, kinds, isMeta: isInjected(this.row, text) });
    }
    if (this.wantsResults) this.tellResults(frame, place, uuid, isCopy, results);
  }

  private tellPrompt(frame: Frame, place: RowPlace, uuid: string | null, isCopy: boolean, prompt: Prompt): void {
    const fields = {
      is_copy: isCopy,
      message_id: null,
      record_id: uuid,
      parent_record_id: this.row.id('parentUuid'),
      role: 'user',
      author: null,
      kind: prompt.kind,
      model: null,
      text: prompt.text,
      thinking: null,
      is_meta: prompt.isMeta,
      is_active: !this.inactive.has(frame.ordinal),
      content_kinds: prompt.kinds,
    };
    this.replies.queue.push({ kind: 'message', at: this.at(uuid, 'message', place), fields }, frame.bytes().length);
  }

  private tellResults(
    frame: Frame,
    place: RowPlace,
    uuid: string | null,
    isCopy: boolean,
    results: readonly Json[],
  ): void {
    // The row has one structured result: of several blocks nothing says whose it is.
    const json = results.length === 1 ? this.row.copyRaw('toolUseResult') : null;
    const slots = new Set<string>();
    results.forEach((block, index) => {
      const { callId, isError, output } = readToolResult(block);
      let slot = `result:${callId ?? `#${index}`}`;
      if (slots.has(slot)) slot = `${slot}#${index}`;
      slots.add(slot);
      const fields = { is_copy: isCopy, call_id: callId, is_error: isError, output, output_json: json };
      this.replies.queue.push({ kind: 'result', at: this.at(uuid, slot, place), fields }, frame.bytes().length);
    });
  }

  /** Tells the prompt that an attachment or system row holds; false where it holds none. */
  private readDisguised(frame: Frame, uuid: string | null, isCopy: boolean): boolean {
    const prompt = readDisguisedPrompt(frame.json());
    if (prompt === null) return false;
    if (this.wantsMessages) {
      const kinds = [...new Set(blocksOf(prompt.content).map(blockType))];
      this.tellPrompt(frame, this.replies.place(frame), uuid, isCopy, { ...prompt, kinds });
    }
    return true;
  }

  private at(nativeId: string | null, slot: string, place: RowPlace): EventAt {
    return { sessionId: this.replies.facts.sessionId, nativeId, slot, ...place };
  }
}

/** A message of the user's side. */
interface Prompt {
  readonly kind: string;
  readonly text: string;
  readonly kinds: readonly string[];
  readonly isMeta: boolean;
}

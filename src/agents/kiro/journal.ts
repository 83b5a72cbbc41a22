/** The journal of a session. No tokens are recorded: counters that are there are always 0, and credits are none. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { recordKey } from '../dialects/forks.ts';
import {
  asObject,
  dig,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  objectsField,
  ownEntry,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  resumeCommand,
  sessionFields,
  type Time,
  textHint,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  thinking: 'thinking',
  toolUse: 'tool_use',
  toolResult: 'tool_result',
  image: 'image',
};

export class JournalDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private hasRecords = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  private hint(name: string): string | null {
    return textHint(this.context.source, name);
  }

  private get sessionId(): string {
    return this.hint('sessionId') ?? this.context.source.name;
  }

  frame(frame: Frame): void {
    const line = asObject(frame.json());
    const kind = line === null ? null : stringField(line, 'kind');
    const data = line === null ? null : objectField(line, 'data');
    if (line === null || kind === null || stringField(line, 'version') !== 'v1') {
      this.out.unknown(kind ?? '(no kind)');
      return;
    }
    this.hasRecords = true;
    if (kind === 'Prompt' || kind === 'AssistantMessage' || kind === 'ToolResults') {
      if (data === null) this.out.badRecord(frame.position(), 'wrong_type', 'the line holds no data object');
      else this.tell(kind, data, frame.position());
    } else if (kind === 'Clear') this.out.ignored(kind);
    else this.out.unknown(kind);
  }

  finish(): void {
    if (!this.hasRecords) return;
    const parent = this.hint('parent');
    const model = this.hint('model');
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        // The reason says `subagent` of ordinary sessions too: only a parent proves anything.
        kind: parent === null ? 'main' : this.hint('reason') === 'subagent' ? 'subagent' : 'fork',
        origin: 'cli',
        title: this.hint('title'),
        cwd: this.hint('cwd'),
        resume_command: resumeCommand('kiro-cli chat --resume-id', this.sessionId),
        extra: model === null ? null : { last_model: model },
      }),
    );
  }

  private tell(kind: string, data: Json, position: Position): void {
    const id = nameField(data, 'message_id');
    const isCopy = id !== null && this.context.copies.has(recordKey(id));
    const time: Time = kind === 'Prompt' ? epochTime(dig(data, 'meta', 'timestamp'), 's') : NO_TIME;
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(this.sessionId, id, slot, position, time);
    const parts = objectsField(data, 'content');
    const kinds = this.kindsOf(parts);
    if (kind !== 'ToolResults') {
      const text = joinTexts(
        parts.filter((part) => stringField(part, 'kind') === 'text').map((part) => stringField(part, 'data')),
      );
      const thoughts = parts
        .filter((part) => stringField(part, 'kind') === 'thinking')
        .map((part) => objectField(part, 'data'));
      const thinking = joinTexts(thoughts.map((thought) => (thought === null ? null : stringField(thought, 'text'))));
      const model =
        thoughts
          .map((thought) => (thought === null ? null : nameField(thought, 'modelId')))
          .find((name) => name !== null) ?? null;
      if (text !== null || thinking !== null) {
        this.out.message(
          at('message'),
          messageFields({
            role: kind === 'Prompt' ? 'user' : 'assistant',
            is_copy: isCopy,
            message_id: id,
            record_id: id,
            model,
            text,
            thinking,
            content_kinds: kinds,
          }),
        );
      }
    }
    for (const part of parts) {
      const value = objectField(part, 'data');
      if (value === null) continue;
      const callId = nameField(value, 'toolUseId');
      if (stringField(part, 'kind') === 'toolUse') {
        const input = field(value, 'input');
        this.out.toolCall(
          at(`call:${callId ?? '?'}`),
          toolCallFields({
            is_copy: isCopy,
            message_id: id,
            call_id: callId,
            ...identifyTool(nameField(value, 'name'), input),
            arguments: jsonText(input),
          }),
        );
      } else if (stringField(part, 'kind') === 'toolResult')
        this.result(value, callId, isCopy, at(`result:${callId ?? '?'}`));
    }
  }

  /** The status is the program's verdict: a shell that fails is a success. */
  private result(value: Json, callId: string | null, isCopy: boolean, at: ReturnType<typeof eventAt>): void {
    const items = objectsField(value, 'content');
    const status = stringField(value, 'status');
    const json = items.filter((item) => stringField(item, 'kind') === 'json').map((item) => field(item, 'data'));
    this.out.toolResult(
      at,
      toolResultFields({
        is_copy: isCopy,
        call_id: callId,
        is_error: status === null ? null : status !== 'success',
        output:
          joinTexts(
            items.filter((item) => stringField(item, 'kind') === 'text').map((item) => stringField(item, 'data')),
          ) ?? shellText(json),
        output_json: json.length === 0 ? null : jsonText(json.length === 1 ? json[0] : json),
      }),
    );
  }

  private kindsOf(parts: readonly Json[]): string[] {
    const kinds = new Set<string>();
    for (const part of parts) {
      const kind = stringField(part, 'kind') ?? '(no kind)';
      const known = ownEntry(KINDS, kind);
      if (known === undefined) this.out.unknown(`content/${kind}`);
      else kinds.add(known);
    }
    return [...kinds];
  }
}

/** What a command printed. */
const shellText = (values: readonly unknown[]): string | null =>
  joinTexts(
    values
      .map(asObject)
      .flatMap((value) => (value === null ? [] : [stringField(value, 'stdout'), stringField(value, 'stderr')])),
  );

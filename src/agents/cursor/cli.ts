/** Blobs of the program's store to what they say. Field numbers come from a peer's decompiled schema. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import {
  asObject,
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  listField,
  nameField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import { lastBytes, numberOf, readMessage, textOf } from '../dialects/protobuf.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  resumeCommand,
  sessionFields,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { readPrompt } from './prompts.ts';

const USER = { text: 1, id: 2, isSimulated: 5 } as const;
const STEP = { reply: 1, call: 2, thinking: 3 } as const;
const UNTITLED = 'New Agent';

export class CliDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private facts: Json | null = null;
  private workspaces: readonly string[] = [];
  /** Thinking that waits for the reply of its turn. */
  private thoughts: { readonly texts: string[]; readonly position: Position; readonly id: string } | null = null;
  private hasRecords = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  private get sessionId(): string {
    return (this.facts === null ? null : nameField(this.facts, 'agentId')) ?? this.context.source.name;
  }

  frame(frame: Frame): void {
    const record = asObject(frame.json());
    if (record === null) return;
    const position = frame.position();
    const data = field(record, 'data');
    const id = stringField(record, 'id') ?? '';
    switch (stringField(record, 'kind')) {
      case 'session':
        this.facts = objectField(record, 'facts');
        this.workspaces = listField(record, 'workspaces').filter((uri): uri is string => typeof uri === 'string');
        break;
      case 'turn':
        this.endThoughts();
        break;
      case 'shell':
        this.hasRecords = true;
        this.out.unknown('shell_conversation_turn');
        break;
      case 'user':
        this.hasRecords = true;
        this.user(data as Buffer, id, position);
        break;
      case 'step':
        this.hasRecords = true;
        this.step(data as Buffer, id, position);
        break;
      case 'prompt':
        this.hasRecords = true;
        this.prompt(data as Buffer, id, position);
        break;
    }
  }

  finish(): void {
    this.endThoughts();
    if (!this.hasRecords) return;
    const { source } = this.context;
    const name = this.facts === null ? null : nameField(this.facts, 'name');
    const lent = (key: string): string | null => {
      const value = source.hints[`${key} elsewhere`];
      return typeof value === 'string' ? value : null;
    };
    const model = this.facts === null ? null : nameField(this.facts, 'lastUsedModel');
    const parent = lent('parent');
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'subagent',
        origin: 'cli',
        title: name === null || name === UNTITLED ? lent('title') : name,
        cwd: folderOf(this.workspaces.find((uri) => uri.startsWith('file://')) ?? null) ?? lent('cwd'),
        resume_command: resumeCommand('cursor-agent --resume', this.sessionId),
        extra: model === null ? null : { last_used_model: model },
      }),
    );
  }

  private at(id: string, slot: string, position: Position): ReturnType<typeof eventAt> {
    // One blob may stand in several places: its text was said each time.
    return eventAt(this.sessionId, `${position.ordinal} ${id}`, slot, position, NO_TIME);
  }

  private user(data: Buffer, id: string, position: Position): void {
    const message = readMessage(data);
    const text = textOf(message, USER.text);
    if (text === null || text === '') return;
    const own = textOf(message, USER.id);
    const prompt = readPrompt(text);
    this.out.message(
      own === null || own === ''
        ? this.at(id, 'message', position)
        : eventAt(this.sessionId, own, 'message', position, NO_TIME),
      messageFields({
        role: 'user',
        record_id: own,
        text: prompt.text,
        is_meta: (numberOf(message, USER.isSimulated) ?? 0n) !== 0n || prompt.isMeta,
        content_kinds: ['text'],
      }),
    );
  }

  private step(data: Buffer, id: string, position: Position): void {
    const step = readMessage(data);
    const reply = lastBytes(step, STEP.reply);
    const thinking = lastBytes(step, STEP.thinking);
    if (thinking !== null) {
      const text = textOf(readMessage(thinking), 1);
      this.thoughts ??= { texts: [], position, id };
      if (text !== null) this.thoughts.texts.push(text);
    } else if (reply !== null) this.reply(textOf(readMessage(reply), 1), id, position);
    // The fields of calls are not known: counted, and not guessed.
    else this.out.unknown(lastBytes(step, STEP.call) === null ? 'step' : 'tool_call');
  }

  private reply(text: string | null, id: string, position: Position): void {
    const thinking = this.thoughts === null ? null : joinTexts(this.thoughts.texts);
    this.thoughts = null;
    if ((text === null || text === '') && thinking === null) return;
    this.out.message(
      this.at(id, 'message', position),
      messageFields({
        role: 'assistant',
        text: text === '' ? null : text,
        thinking,
        content_kinds: [...(thinking === null ? [] : ['thinking']), ...(text === null || text === '' ? [] : ['text'])],
      }),
    );
  }

  private endThoughts(): void {
    const { thoughts } = this;
    if (thoughts !== null) this.reply(null, thoughts.id, thoughts.position);
  }

  /** A message as the model saw it: only where the store has no turns. */
  private prompt(data: Buffer, id: string, position: Position): void {
    const message = asObject(parseOrUndefined(data.toString('utf8')));
    const role = message === null ? null : stringField(message, 'role');
    if (message === null || role === null) {
      this.out.unknown('prompt');
      return;
    }
    const content = field(message, 'content');
    const parts: readonly Json[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : objectsField(message, 'content');
    const text = joinTexts(
      parts.filter((part) => stringField(part, 'type') === 'text').map((part) => stringField(part, 'text')),
    );
    if (text !== null && (role === 'user' || role === 'assistant' || role === 'system')) {
      const prompt = role === 'user' ? readPrompt(text) : { text, isMeta: role === 'system' };
      this.out.message(
        this.at(id, 'message', position),
        messageFields({ role, text: prompt.text, is_meta: prompt.isMeta, content_kinds: ['text'] }),
      );
    }
    parts.forEach((part, index) => {
      const type = stringField(part, 'type');
      const callId = nameField(part, 'toolCallId');
      if (type === 'tool-call') {
        const input = field(part, 'args') ?? field(part, 'input');
        this.out.toolCall(
          this.at(id, `call:${index}`, position),
          toolCallFields({
            call_id: callId,
            ...identifyTool(nameField(part, 'toolName'), input),
            arguments: jsonText(input),
          }),
        );
      } else if (type === 'tool-result') {
        this.out.toolResult(
          this.at(id, `result:${index}`, position),
          toolResultFields({
            call_id: callId,
            is_error: boolField(part, 'isError'),
            output: jsonText(field(part, 'result') ?? field(part, 'output')),
          }),
        );
      } else if (type !== 'text') this.out.unknown(`prompt/${type ?? '(no type)'}`);
    });
  }
}

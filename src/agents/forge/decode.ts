/** A conversation to what it says. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import {
  asObject,
  boolField,
  dig,
  field,
  type Json,
  joinTexts,
  jsonText,
  listField,
  nameField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { readToolCalls } from '../dialects/openai.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, textHint } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { UsageSum } from './usage.ts';

export class ConversationDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    const context = row === null ? null : objectField(row, 'context');
    if (row === null || context === null || !Array.isArray(field(context, 'messages')))
      throw sourceError('foreign_schema', 'holds a conversation without messages');
    const { source } = this.context;
    const usage = new UsageSum();
    let cwd: string | null = null;
    listField(context, 'messages').forEach((value, index) => {
      const position = { ...frame.position(), ordinal: index, locator: `${frame.locator}/messages/${index}` };
      const entry = asObject(value);
      if (entry === null) {
        this.out.badRecord(position, 'wrong_type', 'the entry is no object');
        return;
      }
      // Older rows hold the message itself.
      const message = objectField(entry, 'message') ?? entry;
      const text = objectField(message, 'text');
      const used = objectField(entry, 'usage');
      if (used !== null) usage.add(used, text === null ? null : nameField(text, 'model'));
      if (text !== null) {
        const folder = this.text(text, used !== null, position);
        cwd ??= folder;
      } else this.other(message, position);
    });
    const total = usage.observation(source.name);
    if (total !== null) this.out.usage(eventAt(source.name, 'conversation', 'usage', frame.position()), total);
    const parent = textHint(source, 'parent');
    this.out.session(
      sessionFields({
        session_id: source.name,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'subagent',
        title: nameField(row, 'title'),
        cwd,
        resume_command: resumeCommand('forge conversation resume', source.name),
      }),
    );
  }

  finish(): void {}

  private at(slot: string, position: Position): EventAt {
    return eventAt(this.context.source.name, null, slot, position);
  }

  /** Returns the folder that a system message names; null otherwise. */
  private text(text: Json, hasUsage: boolean, position: Position): string | null {
    const role = stringField(text, 'role') ?? '';
    const content = stringField(text, 'content');
    if (role === 'System') {
      this.out.ignored('message/System');
      const folder = /<current_working_directory>([^<]*)<\/current_working_directory>/.exec(content ?? '')?.[1];
      return folder?.trim() || null;
    }
    if (role !== 'User' && role !== 'Assistant') {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return null;
    }
    const isUser = role === 'User';
    // What was typed; the content is a template with it filled in.
    const raw = dig(text, 'raw_content', 'Text');
    const typed = typeof raw === 'string' ? raw : null;
    const said = (isUser ? (typed ?? content) : content) ?? '';
    const isMeta =
      isUser &&
      (boolField(text, 'droppable') === true ||
        (typed === null &&
          (hasUsage || said.startsWith('Use the following summary frames') || said.startsWith('<system_reminder'))));
    const thinking = isUser
      ? null
      : joinTexts(objectsField(text, 'reasoning_details').map((d) => stringField(d, 'text')));
    if (said.trim() !== '' || thinking !== null) {
      this.out.message(
        this.at('message', position),
        messageFields({
          role: isUser ? 'user' : 'assistant',
          kind: 'message',
          model: isUser ? null : nameField(text, 'model'),
          text: said.trim() === '' ? null : said,
          thinking,
          is_meta: isMeta,
          content_kinds: [...(said.trim() === '' ? [] : ['text']), ...(thinking === null ? [] : ['thinking'])],
        }),
      );
    }
    const calls = objectsField(text, 'tool_calls').map((call) => ({ ...call, id: field(call, 'call_id') }));
    tellCalls(readToolCalls({ calls }, 'calls'), { at: (slot) => this.at(slot, position) }, this.out);
    return null;
  }

  private other(message: Json, position: Position): void {
    const tool = objectField(message, 'tool');
    if (tool !== null) {
      const output = objectField(tool, 'output') ?? {};
      tellResults(
        [
          {
            callId: nameField(tool, 'call_id'),
            isError: boolField(output, 'is_error'),
            output: joinTexts(listField(output, 'values').map(valueText)),
          },
        ],
        { at: (slot) => this.at(slot, position) },
        this.out,
      );
    } else if (objectField(message, 'image') !== null) this.out.ignored('message/image');
    else this.out.unknown(`message/${Object.keys(message)[0] ?? '(empty)'}`);
  }
}

/** A part of a tool's answer: a text, what an agent said, a changed file, or a pair of these. */
function valueText(value: unknown): string | null {
  const part = asObject(value);
  if (part === null) return null;
  const text = stringField(part, 'text') ?? stringField(part, 'markdown');
  if (text !== null) return text;
  const agent = dig(part, 'aI', 'value');
  if (typeof agent === 'string') return agent;
  if (Array.isArray(part['pair'])) return joinTexts(listField(part, 'pair').map(valueText));
  return objectField(part, 'fileDiff') === null ? null : jsonText(field(part, 'fileDiff'));
}

/** Messages of a chat, made of blocks as the terminal shows them. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  boolField,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { eventAt, messageFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { sessionOf } from './session.ts';

/** Blocks of the display alone. */
const DISPLAY = new Set(['agent-list', 'gate-state', 'html', 'mode-divider']);
/** Whether an agent that ended so failed; one that still runs has no result. */
const ENDED: Readonly<Record<string, boolean>> = { complete: false, failed: true, cancelled: true };

export class ChatDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    if (frame.locator === '') {
      // Of a list there is nothing around its records.
      if (!Array.isArray(frame.json()))
        throw sourceError('foreign_schema', 'is no chat: its top is no list of messages');
      return;
    }
    const message = objectOrReport(frame, this.out);
    if (message !== null) this.message(message, frame.position());
  }

  finish(): void {
    this.out.session(sessionOf(this.context));
  }

  private message(message: Json, position: Position): void {
    const id = nameField(message, 'id');
    // Most times are a wall clock without a date: then there is none.
    const time = isoTime(field(message, 'timestamp'));
    const at = (slot: string): EventAt => eventAt(this.context.source.name, id, slot, position, time);
    const variant = stringField(message, 'variant') ?? '';
    switch (variant) {
      case 'user':
      case 'ai':
      case 'error':
        this.turn(message, variant, at);
        break;
      case 'agent': {
        const agent = objectField(message, 'agent') ?? {};
        const callId = nameField(message, 'id');
        tellCalls([{ id: callId, name: agentName(agent), input: null, arguments: null }], { at }, this.out);
        this.blocks(objectsField(message, 'blocks'), at);
        const output = joinTexts([stringField(message, 'content'), ownTexts(message).text]);
        if (boolField(message, 'isComplete') !== false)
          tellResults([{ callId, isError: null, output }], { at }, this.out);
        break;
      }
      default:
        this.out.unknown(`message/${variant === '' ? '(no variant)' : variant}`);
    }
  }

  private turn(message: Json, variant: 'user' | 'ai' | 'error', at: (slot: string) => EventAt): void {
    const blocks = objectsField(message, 'blocks');
    const own = ownTexts(message);
    // Where there are blocks, they hold what was said; the content is blank then, but for the typed text of a person.
    const text = variant === 'ai' && blocks.length > 0 ? own.text : stringField(message, 'content') || null;
    const thinking = variant === 'ai' ? own.thinking : null;
    const hasImage = blocks.some((block) => stringField(block, 'type') === 'image');
    if (text !== null || thinking !== null || hasImage) {
      this.out.message(
        at('message'),
        messageFields({
          role: variant === 'ai' ? 'assistant' : variant === 'error' ? 'system' : 'user',
          record_id: nameField(message, 'id'),
          kind: variant,
          text,
          thinking,
          is_meta: variant === 'error',
          content_kinds: [
            ...(text === null ? [] : ['text']),
            ...(thinking === null ? [] : ['thinking']),
            ...(hasImage ? ['image'] : []),
          ],
        }),
      );
    }
    this.blocks(blocks, at);
  }

  /** Calls in the order of the document; those of an agent follow it, and its result follows them. */
  private blocks(blocks: readonly Json[], at: (slot: string) => EventAt): void {
    for (const block of blocks) {
      const type = stringField(block, 'type') ?? '(no type)';
      if (type === 'tool') this.tool(block, nameField(block, 'toolName'), field(block, 'input'), at);
      else if (type === 'ask-user') this.tool(block, 'ask_user', field(block, 'questions'), at);
      else if (type === 'agent') this.agent(block, at);
      else if (DISPLAY.has(type)) this.out.ignored(`block/${type}`);
      else if (type !== 'text' && type !== 'plan' && type !== 'image') this.out.unknown(`block/${type}`);
    }
  }

  private tool(block: Json, name: string | null, input: unknown, at: (slot: string) => EventAt): void {
    const callId = nameField(block, 'toolCallId');
    tellCalls([{ id: callId, name, input, arguments: jsonText(input) }], { at }, this.out);
    const output = [field(block, 'output'), field(block, 'outputRaw'), field(block, 'answers')]
      .map(jsonText)
      .find((text) => text !== null);
    if (output !== undefined || boolField(block, 'skipped') === true)
      tellResults([{ callId, isError: null, output: output ?? null }], { at }, this.out);
  }

  private agent(block: Json, at: (slot: string) => EventAt): void {
    const callId = nameField(block, 'agentId');
    const input = field(block, 'params') ?? field(block, 'initialPrompt');
    tellCalls([{ id: callId, name: agentName(block), input, arguments: jsonText(input) }], { at }, this.out);
    this.blocks(objectsField(block, 'blocks'), at);
    const isError = ENDED[stringField(block, 'status') ?? ''];
    if (isError === undefined) return;
    const output = joinTexts([stringField(block, 'content'), ownTexts(block).text]);
    tellResults([{ callId, isError, output }], { at }, this.out);
  }
}

const agentName = (agent: Json): string | null => nameField(agent, 'agentType') ?? nameField(agent, 'agentName');

/** What the blocks of one level say: those of agents below it are theirs. */
function ownTexts(holder: Json): { readonly text: string | null; readonly thinking: string | null } {
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  for (const block of objectsField(holder, 'blocks')) {
    const type = stringField(block, 'type');
    if (type === 'plan') texts.push(stringField(block, 'content'));
    if (type === 'text')
      (stringField(block, 'textType') === 'reasoning' ? thoughts : texts).push(stringField(block, 'content'));
  }
  return { text: joinTexts(texts), thinking: joinTexts(thoughts) };
}

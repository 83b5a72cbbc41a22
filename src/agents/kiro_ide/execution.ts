/** The oldest layout: a `.chat` file is one execution. Only its start and end have times. */
import { sourceError } from '../../framing/errors.ts';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { asObject, field, listField, nameField, objectField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, textHint } from '../dialects/rows.ts';
import { contentText } from './content.ts';

/** Beginnings of what the program says in the user's name. */
const PROMPTS = [
  '# System Prompt',
  '# Identity',
  '<identity>',
  '## Included Rules',
  'You are operating in a workspace',
];
const ACKNOWLEDGEMENT = 'I will follow these instructions.';
const WRAPPER = /^<kiro-ide-message>|<\/kiro-ide-message>$/g;

const isPrompt = (text: string): boolean => PROMPTS.some((start) => text.startsWith(start));

export class ExecutionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const { out, context } = this;
    const execution = asObject(frame.json());
    if (execution === null || !Array.isArray(field(execution, 'chat')))
      throw sourceError('foreign_schema', 'is no execution: it has no list of messages');
    const sessionId = context.source.name;
    const metadata = objectField(execution, 'metadata');
    const model = metadata === null ? null : nameField(metadata, 'modelId');
    listField(execution, 'chat').forEach((entry, index) => {
      const position: Position = { ordinal: index, byteStart: null, byteEnd: null, locator: `/chat/${index}` };
      const message = asObject(entry);
      if (message === null) {
        out.badRecord(position, 'wrong_type', 'the message is no object');
        return;
      }
      const role = stringField(message, 'role');
      if (role === 'tool') out.ignored('chat/tool');
      else if (role === 'human' || role === 'bot') {
        const text = spokenText(role, contentText(field(message, 'content')));
        if (text === null) return;
        out.message(
          eventAt(sessionId, null, 'message', position),
          messageFields({
            role: role === 'human' ? 'user' : 'assistant',
            model: role === 'bot' ? model : null,
            text,
            content_kinds: ['text'],
          }),
        );
      } else out.unknown(`chat/${role ?? '(no role)'}`);
    });
    const workflow = metadata === null ? null : nameField(metadata, 'workflowId');
    out.session(
      sessionFields({
        session_id: sessionId,
        origin: 'ide',
        cwd: textHint(context.source, 'cwd'),
        // A conversation may be several executions, which are kept apart.
        extra: workflow === null ? null : { workflow_id: workflow },
      }),
    );
  }

  finish(): void {}
}

/** What a person or the model said; null for what the program put there. */
function spokenText(role: 'human' | 'bot', text: string | null): string | null {
  if (text === null) return null;
  if (role === 'bot') return text === ACKNOWLEDGEMENT ? null : text;
  const bare = text.replace(WRAPPER, '').trim();
  return bare === '' || isPrompt(bare) ? null : bare;
}

/** A session to what it says. No tokens are recorded, and of tools only their names. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime, isoTime } from '../dialects/clock.ts';
import {
  asObject,
  field,
  type Json,
  joinTexts,
  listField,
  nameField,
  numberField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  sessionFields,
  type Time,
  textHint,
  toolCallFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';

/** Smaller numbers are seconds. */
const MILLIS_FROM = 1e11;

function timeOf(value: unknown): Time {
  if (typeof value === 'number') return epochTime(value, value < MILLIS_FROM ? 's' : 'ms');
  return typeof value === 'string' ? isoTime(value) : NO_TIME;
}

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const session = asObject(frame.json());
    if (session === null) return;
    const sessionId = this.context.source.name;
    const messages = listField(session, 'messages').map((message, index) => ({ message: asObject(message), index }));
    for (const { message, index } of messages) {
      if (message === null) this.out.badRecord(this.place(frame, index), 'wrong_type', 'the message is no object');
    }
    const whole = messages.flatMap(({ message, index }) => (message === null ? [] : [{ message, index }]));
    const turn = (message: Json): number | null => {
      const value = numberField(message, 'turnIndex');
      return value !== null && Number.isInteger(value) ? value : null;
    };
    if (whole.every(({ message }) => turn(message) !== null))
      whole.sort((a, b) => turn(a.message)! - turn(b.message)! || a.index - b.index);
    whole.forEach(({ message, index }, order) => {
      this.message(message, sessionId, { ...this.place(frame, index), ordinal: order });
    });
    const model = nameField(session, 'model');
    this.out.session(
      sessionFields({
        session_id: sessionId,
        origin: 'ide',
        title: nameField(session, 'title'),
        cwd: textHint(this.context.source, 'cwd'),
        extra: model === null ? null : { model },
      }),
    );
  }

  finish(): void {}

  private place(frame: Frame, index: number): Position {
    return { ordinal: index, byteStart: null, byteEnd: null, locator: `${frame.locator}/messages/${index}` };
  }

  private message(message: Json, sessionId: string, position: Position): void {
    const role = stringField(message, 'role')?.trim().toLowerCase() ?? '';
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    const id = nameField(message, 'agentMessageId') ?? nameField(message, 'turnId');
    // A turn has one id for what both said.
    const at = (slot: string): ReturnType<typeof eventAt> =>
      eventAt(
        sessionId,
        id === null ? null : `${id} ${role} ${position.ordinal}`,
        slot,
        position,
        timeOf(field(message, 'timestamp')),
      );
    const content = stringField(message, 'content')?.trim() || null;
    const task = field(message, 'agentTaskContent');
    const steps = asObject(task) === null ? [] : planItems(asObject(task)!);
    const text = role === 'assistant' ? (content ?? answerIn(task, steps)) : content;
    const thinking = role === 'assistant' && asObject(task) !== null ? thinkingIn(asObject(task)!, steps) : null;
    if (text !== null || thinking !== null) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          record_id: id,
          kind: nameField(message, 'agentMessageType'),
          model: role === 'assistant' ? modelOf(message) : null,
          text,
          thinking,
          is_meta: role === 'system',
          content_kinds: [...(text === null ? [] : ['text']), ...(thinking === null ? [] : ['thinking'])],
        }),
      );
    }
    steps.forEach((step, index) => {
      const name = nameField(step, 'toolName');
      if (name !== null && name !== 'finish')
        this.out.toolCall(at(`call:${index}`), toolCallFields({ message_id: id, ...identifyTool(name, undefined) }));
    });
  }
}

const planItems = (task: Json): readonly Json[] => objectsField(objectField(task, 'guideline') ?? {}, 'planItems');

const trimmed = (text: string | null): string | null => text?.trim() || null;

/** The answer of a reply without content: what was proposed, and the steps that finish; else the thought of the plan. */
function answerIn(task: unknown, steps: readonly Json[]): string | null {
  if (typeof task === 'string') return trimmed(task);
  const object = asObject(task);
  if (object === null) return null;
  const finished = steps
    .filter((step) => stringField(step, 'toolName') === 'finish')
    .map((step) => trimmed(stringField(step, 'thought')));
  const guideline = objectField(object, 'guideline');
  return (
    joinTexts([trimmed(stringField(object, 'proposal')), ...finished]) ??
    (guideline === null ? null : trimmed(stringField(guideline, 'thought')))
  );
}

const thinkingIn = (task: Json, steps: readonly Json[]): string | null =>
  joinTexts([
    stringField(task, 'proposalReasoningContent'),
    ...steps.map((step) => stringField(step, 'reasoningContent')),
  ]);

function modelOf(message: Json): string | null {
  const info = objectField(message, 'modelInfo');
  return (
    (info === null ? null : (nameField(info, 'display_model_name') ?? nameField(info, 'config_name'))) ??
    nameField(message, 'model')
  );
}

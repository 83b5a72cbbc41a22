/** Bubbles of the editor's conversations to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime, isoTime } from '../dialects/clock.ts';
import {
  asObject,
  field,
  type Json,
  joinTexts,
  jsonText,
  listField,
  nameField,
  numberField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import {
  eventAt,
  messageFields,
  NO_TIME,
  sessionFields,
  type Time,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';

const timeOf = (bubble: Json): Time => {
  const created = field(bubble, 'createdAt');
  if (typeof created === 'number') return epochTime(created, 'ms');
  return created === undefined || created === null ? NO_TIME : isoTime(created);
};

/** `default` stands for the automatic choice, which is no model. */
function modelOf(bubble: Json): string | null {
  const info = objectField(bubble, 'modelInfo');
  const model = info === null ? null : nameField(info, 'modelName');
  return model === 'default' ? null : model;
}

function thinkingOf(bubble: Json): string | null {
  const thinking = field(bubble, 'thinking');
  if (typeof thinking === 'string') return thinking === '' ? null : thinking;
  const object = asObject(thinking);
  if (object !== null && nameField(object, 'text') !== null) return nameField(object, 'text');
  return joinTexts(
    objectsField(bubble, 'allThinkingBlocks').map(
      (block) => stringField(block, 'thinking') ?? stringField(block, 'text'),
    ),
  );
}

/** Numbers in the newer bubbles, names in the older ones. */
function roleOf(bubble: Json): 'user' | 'assistant' | null {
  const type = field(bubble, 'type') ?? field(bubble, 'role');
  if (type === 1 || type === 'user') return 'user';
  return type === 2 || type === 'ai' || type === 'assistant' ? 'assistant' : null;
}

class BubbleTeller {
  readonly sessionId: string;
  hasContent = false;
  cwd: string | null = null;
  private readonly out: Emitter;

  constructor(sessionId: string, out: Emitter) {
    this.sessionId = sessionId;
    this.out = out;
  }

  tell(bubble: Json, id: string | null, position: Position): void {
    const role = roleOf(bubble);
    if (role === null) {
      this.out.unknown(`bubble/${String(field(bubble, 'type') ?? '(no type)')}`);
      return;
    }
    this.noteFolder(bubble);
    const time = timeOf(bubble);
    const text =
      ['text', 'rawText', 'content', 'message'].map((key) => nameField(bubble, key)).find((value) => value !== null) ??
      null;
    const thinking = thinkingOf(bubble);
    if (text !== null || thinking !== null) {
      this.hasContent = true;
      this.out.message(
        eventAt(this.sessionId, id, 'message', position, time),
        messageFields({
          role,
          record_id: id,
          model: role === 'assistant' ? modelOf(bubble) : null,
          text,
          thinking,
          content_kinds: [...(text === null ? [] : ['text']), ...(thinking === null ? [] : ['thinking'])],
        }),
      );
    }
    this.tool(bubble, id, position, time);
  }

  private tool(bubble: Json, id: string | null, position: Position, time: Time): void {
    const data = objectField(bubble, 'toolFormerData');
    const name = data === null ? null : nameField(data, 'name');
    if (data === null || name === null) return;
    this.hasContent = true;
    const callId = nameField(data, 'toolCallId');
    const given = field(data, 'rawArgs') ?? field(data, 'params');
    this.out.toolCall(
      eventAt(this.sessionId, id, 'call', position, time),
      toolCallFields({
        message_id: id,
        call_id: callId,
        ...identifyTool(name, typeof given === 'string' ? parseOrUndefined(given) : given),
        arguments: jsonText(given),
      }),
    );
    const result = field(data, 'result');
    if (result === undefined || result === null) return;
    this.out.toolResult(
      eventAt(this.sessionId, id, 'result', position, time),
      toolResultFields({
        call_id: callId,
        is_error: stringField(data, 'status') === 'error',
        output: jsonText(result),
      }),
    );
  }

  private noteFolder(bubble: Json): void {
    if (this.cwd !== null) return;
    this.cwd =
      folderOf(nameField(bubble, 'workspaceProjectDir')) ??
      folderOf(
        listField(bubble, 'workspaceUris').find(
          (uri): uri is string => typeof uri === 'string' && uri.startsWith('file://'),
        ) ?? null,
      );
  }
}

const hint = (context: DecodeContext, name: string): string | null => {
  const value = context.source.hints[name];
  return typeof value === 'string' ? value : null;
};

export class ComposerDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly teller: BubbleTeller;
  private composer: Json | null = null;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
    // The id of the key: the one inside may be empty.
    this.teller = new BubbleTeller(context.source.name, out);
  }

  frame(frame: Frame): void {
    if (frame.locator?.startsWith('leftover:')) {
      this.out.ignored('bubble that is no part of the conversation any more');
      return;
    }
    const value = asObject(frame.json());
    if (value === null) {
      this.out.badRecord(frame.position(), 'wrong_type', 'the value is no object');
      return;
    }
    if (frame.locator?.startsWith('composerData:')) {
      this.composer = value;
      this.inline(value, frame.position());
    } else this.teller.tell(value, frame.locator!.slice(frame.locator!.lastIndexOf(':') + 1), frame.position());
  }

  /** Old conversations hold their bubbles themselves; the oldest only one prompt. */
  private inline(composer: Json, position: Position): void {
    if (
      Array.isArray(field(composer, 'fullConversationHeadersOnly')) &&
      listField(composer, 'fullConversationHeadersOnly').length > 0
    )
      return;
    const map = objectField(composer, 'conversationMap') ?? {};
    const lists = [
      ...Object.values(map).map((value) => (asObject(value) === null ? [] : objectsField(asObject(value)!, 'bubbles'))),
      ...objectsField(composer, 'tabs').map((tab) => objectsField(tab, 'bubbles')),
      objectsField(composer, 'conversation'),
    ];
    let index = 0;
    for (const bubbles of lists) {
      for (const bubble of bubbles) {
        const id = nameField(bubble, 'bubbleId') ?? nameField(bubble, 'id');
        this.teller.tell(bubble, id, { ...position, ordinal: index++ });
      }
    }
  }

  finish(): void {
    const { teller, composer } = this;
    // One that was opened and never used is no session.
    if (!teller.hasContent) return;
    const config = composer === null ? null : objectField(composer, 'modelConfig');
    const model = config === null ? null : nameField(config, 'modelName');
    const parent = hint(this.context, 'parent') ?? hint(this.context, 'parent elsewhere');
    this.out.session(
      sessionFields({
        session_id: teller.sessionId,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'subagent',
        origin: 'ide',
        title: (composer === null ? null : nameField(composer, 'name')) ?? hint(this.context, 'title elsewhere'),
        cwd: hint(this.context, 'cwd') ?? teller.cwd ?? hint(this.context, 'cwd elsewhere'),
        extra: extraOf(composer, model),
      }),
    );
  }
}

function extraOf(composer: Json | null, model: string | null): Record<string, unknown> | null {
  const extra: Record<string, unknown> = {};
  if (model !== null) extra['model_config'] = model;
  const mode = composer === null ? null : nameField(composer, 'unifiedMode');
  if (mode !== null) extra['mode'] = mode;
  const created = composer === null ? null : numberField(composer, 'createdAt');
  if (created !== null) extra['created_at_ms'] = created;
  return Object.keys(extra).length === 0 ? null : extra;
}

export class ChatDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const tab = asObject(frame.json());
    if (tab === null) return;
    const teller = new BubbleTeller(this.context.source.name, this.out);
    objectsField(tab, 'bubbles').forEach((bubble, index) => {
      teller.tell(bubble, nameField(bubble, 'id'), { ...frame.position(), ordinal: index });
    });
    if (!teller.hasContent) return;
    const title = nameField(tab, 'chatTitle');
    this.out.session(
      sessionFields({
        session_id: teller.sessionId,
        origin: 'ide',
        title,
        cwd: hint(this.context, 'cwd') ?? teller.cwd,
      }),
    );
  }

  finish(): void {}
}

/** Items of a session to what they say. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { field, type Json, jsonText, nameField, objectField, parseOrUndefined, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, resumeCommand, sessionFields, textHint } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { type ItemContent, isInjected, outputText, readContent, reasoningText } from './content.ts';
import { type ItemsOutline, isConversation, itemOf } from './outline.ts';
import { Places } from './places.ts';
import { readUsage, responseId } from './usage.ts';

/** What differs between CodeBuddy and the products that embed it. */
export interface ItemsProduct {
  /** Command that takes a session up again, the id follows; null where there is none. */
  readonly resume: string | null;
  readonly roles: readonly string[];
}

/** Items that are known and carry no rows. */
const SILENT = new Set([
  'acp-terminal-state',
  'ai-title',
  'credit-usage',
  'custom-title',
  'file-history-snapshot',
  'goal-progress',
  'goal-result',
  'model-usage',
  'resend-fork-notice',
  'session-meta',
  'summary',
  'topic',
  'turn-metrics',
]);

/** Counters there are sums over responses, or no tokens. */
const NO_USAGE = new Set(['credit-usage', 'turn-metrics']);

const NOTHING: ItemsOutline = {
  slots: new Map(),
  replaced: new Set(),
  repeated: new Set(),
  live: null,
  isAmbiguous: false,
  clearedUpTo: -1,
};

export class ItemsDecoder implements Decoder {
  private readonly context: DecodeContext<ItemsOutline>;
  private readonly out: Emitter;
  private readonly product: ItemsProduct;
  private readonly outline: ItemsOutline;
  private readonly places = new Places();
  /** First places of records that were replaced, by the number of the last. */
  private readonly firstPlaces: ReadonlyMap<number, number>;
  private cwd: string | null = null;
  private customTitle: string | null = null;
  private aiTitle: string | null = null;
  private hasItems = false;

  constructor(context: DecodeContext<ItemsOutline>, out: Emitter, product: ItemsProduct) {
    this.context = context;
    this.out = out;
    this.product = product;
    this.outline = context.outline ?? NOTHING;
    this.firstPlaces = new Map([...this.outline.slots].map(([place, last]) => [last, place]));
    if (this.outline.isAmbiguous)
      out.issue('warning', 'broken_branch', 'branches cannot be told apart; all items count as live');
  }

  private get sessionId(): string {
    return this.context.source.name;
  }

  frame(frame: Frame): void {
    const { outline, places } = this;
    const { ordinal } = frame;
    if (outline.replaced.has(ordinal)) {
      const last = outline.slots.get(ordinal);
      if (last !== undefined) places.reserve(last);
      this.out.ignored('replaced');
      return;
    }
    const line = objectOrReport(frame, this.out);
    if (line === null) return;
    const { item, type } = itemOf(line);
    this.cwd ??= nameField(item, 'cwd');
    if (type === 'custom-title') this.customTitle = nameField(item, 'customTitle') ?? this.customTitle;
    if (type === 'ai-title') this.aiTitle = nameField(item, 'aiTitle') ?? this.aiTitle;
    const place = this.firstPlaces.get(ordinal);
    const position = { ...frame.position(), ordinal: place ?? ordinal };
    const tell = (): void => this.tell(item, type, position);
    if (place === undefined) places.add(tell);
    else places.fill(ordinal, tell);
  }

  finish(): void {
    this.places.flush();
    if (!this.hasItems) return;
    const parent = textHint(this.context.source, 'parent');
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'subagent',
        title: this.customTitle ?? this.aiTitle,
        cwd: this.cwd,
        resume_command:
          this.product.resume === null || parent !== null ? null : resumeCommand(this.product.resume, this.sessionId),
      }),
    );
  }

  private tell(item: Json, type: string, position: Position): void {
    if (isConversation(type)) this.hasItems = true;
    const at = (slot: string): EventAt => this.at(item, slot, position);
    switch (type) {
      case 'message':
        this.message(item, at('message'));
        break;
      case 'reasoning': {
        const thinking = reasoningText(item);
        if (thinking !== null)
          this.row(item, 'assistant', { text: null, thinking, kinds: ['thinking'] }, at('message'));
        break;
      }
      case 'function_call':
        this.call(item, at);
        break;
      case 'function_call_result':
      case 'function_call_output':
        this.result(item, type, at);
        break;
      default:
        if (SILENT.has(type)) this.out.ignored(type);
        else this.out.unknown(type === '' ? '(no type)' : type);
    }
    if (!NO_USAGE.has(type)) this.usage(item, position, at('usage'));
  }

  private at(item: Json, slot: string, position: Position): EventAt {
    const id = nameField(item, 'id');
    const nativeId = id !== null && this.outline.repeated.has(id) ? null : id;
    return eventAt(this.sessionId, nativeId, slot, position, epochTime(field(item, 'timestamp'), 'ms'));
  }

  private message(item: Json, at: EventAt): void {
    const role = stringField(item, 'role') ?? '';
    if (!this.product.roles.includes(role)) {
      this.out.unknown(`message/${role === '' ? '(no role)' : role}`);
      return;
    }
    reportContent(field(item, 'content'), at.position, this.out);
    const content = readContent(field(item, 'content'), (type) => this.out.unknown(type));
    const kinds = content.kinds.filter((kind) => kind !== 'tool_use' && kind !== 'tool_result');
    const isBlank = (content.text ?? '').trim() === '' && content.thinking === null;
    if (isBlank && !kinds.includes('image') && !kinds.includes('file')) return;
    this.row(item, role === 'user' || role === 'system' ? role : 'assistant', { ...content, kinds }, at);
  }

  private row(item: Json, role: 'user' | 'assistant' | 'system', content: ItemContent, at: EventAt): void {
    const id = nameField(item, 'id');
    const { live, clearedUpTo } = this.outline;
    this.out.message(
      at,
      messageFields({
        role,
        message_id: responseId(item),
        record_id: id,
        parent_record_id: nameField(item, 'parentId'),
        author: nameField(objectField(item, 'providerData') ?? {}, 'agent'),
        kind: stringField(item, 'type'),
        model: role === 'assistant' ? modelOf(item) : null,
        text: content.text,
        thinking: content.thinking,
        is_meta: role === 'system' || (role === 'user' && isInjected(item, content.text)),
        is_active: at.position.ordinal > clearedUpTo && (live === null || id === null || live.has(id)),
        content_kinds: [...content.kinds],
      }),
    );
  }

  private call(item: Json, at: (slot: string) => EventAt): void {
    const name = nameField(item, 'name');
    if (name === null) {
      this.out.unknown('function_call/(no name)');
      return;
    }
    const given = field(item, 'arguments');
    const input = typeof given === 'string' ? parseOrUndefined(given) : given;
    const call = { id: nameField(item, 'callId'), name, input, arguments: jsonText(given) };
    tellCalls([call], { at, messageId: responseId(item) }, this.out);
  }

  private result(item: Json, type: string, at: (slot: string) => EventAt): void {
    const status = type === 'function_call_result' ? stringField(item, 'status') : null;
    const isError = status === 'completed' ? false : status === 'failed' || status === 'error' ? true : null;
    const result = { callId: nameField(item, 'callId'), isError, output: outputText(field(item, 'output')) };
    tellResults([result], { at }, this.out);
  }

  private usage(item: Json, position: Position, at: EventAt): void {
    const messageId = responseId(item);
    const id = nameField(item, 'id');
    // Without a response's id the record stands for it.
    const key = messageId ?? (id === null ? null : JSON.stringify([this.sessionId, id]));
    const observation = readUsage(item, { messageId, model: modelOf(item), key }, position, this.out);
    if (observation !== null) this.out.usage(at, observation);
  }
}

/** Where a model is chosen for each request, the record names both the choice and what it came to. */
function modelOf(item: Json): string | null {
  const data = objectField(item, 'providerData') ?? {};
  return nameField(data, 'requestModelId') ?? nameField(data, 'model');
}

/** Spans to conversations. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { CounterReader } from '../dialects/counters.ts';
import { nameField, parseOrUndefined } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields, type Time, usageObservation } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { BestFinds, type Find, findsOf, INPUT, isChat, OUTPUT } from './finds.ts';
import { type Span, spansOf } from './span.ts';

/** Operations besides chat; an agent's span sums up what its calls say. */
const OPERATIONS = new Set(['execute_tool', 'invoke_agent']);

export class TraceDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly best = new BestFinds();
  private readonly conversations = new Set<string>();

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const position = frame.position();
    for (const span of spansOf(frame, () => this.out.unknown('(no resourceSpans)'))) this.span(span, position);
  }

  finish(): void {
    for (const find of this.best.inOrder()) if (!this.context.copies.has(find.key)) this.tell(find);
    for (const conversation of this.conversations) this.out.session(sessionFields({ session_id: conversation }));
  }

  private span(span: Span, position: Position): void {
    const operation = isChat(span) ? 'chat' : (span.operation ?? '(no operation)');
    if (span.conversation === null) {
      this.out.ignored('span without a conversation');
      return;
    }
    this.conversations.add(span.conversation);
    if (operation !== 'chat' && !OPERATIONS.has(operation)) this.out.unknown(`operation/${operation}`);
    else if (operation === 'invoke_agent') this.out.ignored(operation);
    const fault = (name: string): void =>
      this.out.badRecord(position, 'malformed_json', `the attribute ${name} is no list of messages`);
    for (const find of findsOf(span, position, { fault, unknown: (type) => this.out.unknown(type) }))
      this.best.add(find);
  }

  private tell(find: Find): void {
    const { span, id } = find;
    const place = (time: Time, nativeId = id): ((slot: string) => EventAt) => {
      return (slot) => eventAt(span.conversation!, nativeId, slot, find.position, time);
    };
    if (find.kind === 'user')
      this.out.message(
        place(span.start)('message'),
        messageFields({ role: 'user', message_id: span.id, kind: 'prompt', text: find.text, content_kinds: ['text'] }),
      );
    else if (find.kind === 'reply')
      this.out.message(
        // Another file may come to tell it better: what this one told is then withdrawn, and not what that one tells.
        place(span.end, `${this.context.source.name} ${id}`)('message'),
        messageFields({
          role: 'assistant',
          message_id: span.id,
          kind: 'chat',
          model: modelOf(span),
          text: find.text,
          content_kinds: ['text'],
        }),
      );
    else if (find.kind === 'usage') this.usage(find, place(span.end)('usage'));
    else {
      const { callId, name, result } = find;
      const input = parseOrUndefined(find.arguments ?? '');
      tellCalls([{ id: callId, name, input, arguments: find.arguments }], { at: place(span.start) }, this.out);
      if (result !== null) tellResults([{ callId, isError: null, output: result }], { at: place(span.end) }, this.out);
    }
  }

  /** What of the input came from cache is not recorded. */
  private usage({ span, id, position }: Find, at: EventAt): void {
    const reader = new CounterReader(this.out, position);
    const input = reader.read(span.attributes, INPUT);
    const output = reader.read(span.attributes, OUTPUT);
    if (input === null && output === null) return;
    this.out.usage(
      at,
      usageObservation({
        message_id: span.id,
        request_id: nameField(span.attributes, 'copilot_chat.root_request_id'),
        model: modelOf(span),
        input_tokens: input,
        output_tokens: output,
        input_includes_cache_read: true,
        input_includes_cache_write: null,
        output_includes_reasoning: true,
        basis: 'native',
        key: id,
      }),
    );
  }
}

const modelOf = ({ attributes }: Span): string | null =>
  nameField(attributes, 'gen_ai.response.model') ?? nameField(attributes, 'gen_ai.request.model');

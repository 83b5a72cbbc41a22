/** Envelopes to messages, calls and steps. */
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter, EventAt } from '../agent.ts';
import { objectOrReport } from '../dialects/frames.ts';
import {
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import { messageFields, resumeCommand, sessionFields, textHint } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { type Facts, noFacts, readEnvelope, unwrapped, withFacts } from './envelope.ts';
import { type Held, inOrder, placeOf } from './held.ts';
import { Intents } from './intents.ts';
import { Steps } from './usage.ts';

const SCHEMA = 1;
/** Payloads that say something of the session, and no more. */
const OF_SESSION = new Set([
  'runtime.session.metadata',
  'runtime.session.route_facts',
  'session.end',
  'session.name.changed',
]);
/** Events of a run that carry no rows. */
const SILENT = new Set(['terminal', 'todo_snapshot_updated', 'workflow_child_lifecycle']);

/** What the model said. */
interface Said {
  readonly held: Held;
  readonly run: string | null;
  readonly messageId: string | null;
  readonly text: string | null;
  readonly kind: string;
}

export class SessionDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private readonly sessionId: string;
  private readonly intents = new Intents();
  private readonly steps: Steps;
  private readonly replies: Said[] = [];
  private readonly thoughts: Said[] = [];
  private facts: Facts;
  private isEmpty = true;
  private isOtherSchema = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
    const { source } = context;
    this.sessionId = source.name;
    this.steps = new Steps(out);
    // A subagent's log says nothing of itself: its parent's does.
    const [cwd, model] = [textHint(source, 'cwd'), textHint(source, 'model')];
    const [provider, version] = [textHint(source, 'provider'), textHint(source, 'version')];
    this.facts = { ...noFacts, cwd, model, provider, version };
  }

  frame(frame: Frame): void {
    const record = objectOrReport(frame, this.out);
    if (record === null) return;
    const position = frame.position();
    unwrapped(record).forEach((one, child) => {
      const envelope = one === null ? null : readEnvelope(one);
      if (one === null) this.out.badRecord(position, 'malformed_json', 'a record in a frame is no JSON object');
      else if (envelope === null) this.out.unknown('(no payload_type)');
      // The log of a session also holds what its subagents did, which have logs of their own.
      else if (envelope.streamId !== null && envelope.streamId !== this.sessionId)
        this.out.ignored('record of another stream');
      else this.take({ envelope, position, child });
    });
  }

  finish(): void {
    this.tellMessages();
    this.steps.tell(this.sessionId, this.facts.provider);
    if (this.isEmpty) return;
    const parent = textHint(this.context.source, 'parent');
    const { title, cwd, version } = this.facts;
    this.out.session(
      sessionFields({
        session_id: this.sessionId,
        parent_session_id: parent,
        kind: parent === null ? 'main' : 'subagent',
        title,
        cwd,
        agent_version: version,
        resume_command: parent === null ? resumeCommand('muse resume', this.sessionId) : null,
      }),
    );
  }

  private take(held: Held): void {
    const { type, payload, version } = held.envelope;
    this.isEmpty = false;
    if (version !== null && version !== SCHEMA && !this.isOtherSchema) {
      this.isOtherSchema = true;
      this.out.issue('warning', 'newer_version', `records are of schema ${version}; what is known of it was read`);
    }
    if (OF_SESSION.has(type)) {
      this.facts = withFacts(this.facts, held.envelope);
      this.out.ignored(type);
    } else if (type === 'runtime.user_intent.accepted') this.intents.accept(payload, held);
    else if (type === 'runtime.user_intent.materialized') this.intents.materialize(payload, held);
    else if (type === 'run.model.configured') this.steps.configure(payload);
    else if (type === 'runtime.session') {
      const kind = stringField(payload, 'kind') ?? '(no kind)';
      const event = objectField(payload, 'event');
      if (kind === 'run' && event !== null) this.event(event, nameField(payload, 'run_id'), held);
      else if (kind === 'task' || kind === 'run') this.out.ignored(`${type}/${kind}`);
      else this.out.unknown(`${type}/${kind}`);
    } else this.out.unknown(type);
  }

  private event(event: Json, run: string | null, held: Held): void {
    const kind = stringField(event, 'kind') ?? '(no kind)';
    const said = (): Said => ({
      held,
      run,
      messageId: nameField(event, 'message_id'),
      text: textOf(event),
      kind,
    });
    switch (kind) {
      case 'started':
        this.intents.start(run, stringField(event, 'prompt'), held);
        break;
      case 'reasoning_committed':
        this.thoughts.push(said());
        break;
      case 'assistant_message_committed':
        this.replies.push(said());
        break;
      case 'assistant_tool_calls_committed':
        this.replies.push(said());
        this.calls(event, held);
        break;
      case 'tool_result_batch_committed':
        this.results(event, held);
        break;
      case 'model_completed':
        this.steps.complete(event, run, held);
        break;
      case 'goal_usage_attribution':
        this.steps.attribute(event, run, held);
        break;
      default:
        if (SILENT.has(kind)) this.out.ignored(`run/${kind}`);
        else this.out.unknown(`run/${kind}`);
    }
  }

  private calls(event: Json, held: Held): void {
    const calls = objectsField(event, 'tool_calls').map((call) => {
      const args = field(call, 'args');
      return {
        id: nameField(call, 'call_id') ?? nameField(call, 'id'),
        name: nameField(call, 'name'),
        input: typeof args === 'string' ? parseOrUndefined(args) : args,
        arguments: jsonText(args),
      };
    });
    tellCalls(calls, { at: this.place(held), messageId: nameField(event, 'message_id') }, this.out);
  }

  private results(event: Json, held: Held): void {
    const results = objectsField(event, 'results').map((result) => {
      const output = stringField(result, 'text');
      return {
        callId: nameField(result, 'tool_call_id'),
        isError: output?.startsWith('tool failed:') === true ? true : null,
        output: output === '' ? null : output,
      };
    });
    tellResults(results, { at: this.place(held) }, this.out);
  }

  private place(held: Held): (slot: string) => EventAt {
    return (slot) => placeOf(this.sessionId, held, slot);
  }

  /** In the order of events. Thoughts belong to the reply of the same id; others stand for themselves. */
  private tellMessages(): void {
    const replied = new Set(this.replies.flatMap(({ text, messageId }) => (text === null ? [] : [messageId])));
    const thoughts = new Map<string, (string | null)[]>();
    const alone: Said[] = [];
    for (const thought of this.thoughts.sort((a, b) => inOrder(a.held, b.held))) {
      const { messageId } = thought;
      if (messageId === null || !replied.has(messageId)) alone.push(thought);
      else thoughts.set(messageId, [...(thoughts.get(messageId) ?? []), thought.text]);
    }
    const rows: { readonly held: Held; readonly tell: () => void }[] = [
      ...this.intents.texts(inOrder).map(({ held, text, kinds, isIntent }) => ({
        held,
        tell: () => this.tellUser(held, text, kinds, isIntent),
      })),
      ...alone.map((thought) => ({ held: thought.held, tell: () => this.tellReply(thought, null, thought.text) })),
      ...this.replies.map((reply) => ({
        held: reply.held,
        tell: () => {
          const thinking = reply.messageId === null ? null : (thoughts.get(reply.messageId) ?? null);
          if (reply.text !== null && reply.messageId !== null) thoughts.delete(reply.messageId);
          this.tellReply(reply, reply.text, reply.text === null || thinking === null ? null : joinTexts(thinking));
        },
      })),
    ];
    for (const { tell } of rows.sort((a, b) => inOrder(a.held, b.held))) tell();
  }

  private tellUser(held: Held, text: string | null, kinds: readonly string[], isIntent: boolean): void {
    const isBlank = !text?.trim();
    if (isBlank && !kinds.some((kind) => kind !== 'text')) return;
    this.out.message(
      placeOf(this.sessionId, held, 'message'),
      messageFields({
        role: 'user',
        record_id: held.envelope.id,
        kind: isIntent ? 'intent' : 'prompt',
        text: isBlank ? null : text,
        content_kinds: [...kinds],
      }),
    );
  }

  private tellReply({ held, run, messageId, kind }: Said, text: string | null, thinking: string | null): void {
    if (text === null && thinking === null) return;
    this.out.message(
      placeOf(this.sessionId, held, 'message'),
      messageFields({
        role: 'assistant',
        message_id: messageId,
        record_id: held.envelope.id,
        kind,
        model: this.steps.modelOf(run) ?? this.facts.model,
        text,
        thinking,
        content_kinds: [...(thinking === null ? [] : ['thinking']), ...(text === null ? [] : ['text'])],
      }),
    );
  }
}

/** A text that is not blank; else null. */
function textOf(event: Json): string | null {
  const text = stringField(event, 'text');
  return text?.trim() ? text : null;
}

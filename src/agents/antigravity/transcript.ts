/** Steps of a conversation. They are written when they are done, so that the file is not in their order. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { isoTime } from '../dialects/clock.ts';
import { objectOf, objectOrReport } from '../dialects/frames.ts';
import {
  field,
  type Json,
  jsonText,
  nameField,
  numberField,
  objectsField,
  parseOrUndefined,
  stringField,
} from '../dialects/json.ts';
import {
  eventAt,
  messageFields,
  resumeCommand,
  sessionFields,
  toolCallFields,
  toolResultFields,
} from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import type { ModelSteps } from './generations.ts';

export interface StepOutline {
  /** Steps at which another model was chosen, in order of steps: `[step, name]`. */
  readonly chosen: ModelSteps;
  /** Places of lines in the order of their steps, by ordinal; where that is not the order of lines. */
  readonly places: ReadonlyMap<number, number>;
}

const CHOICE =
  /The user changed setting `Model Selection` from [\s\S]*? to ([\s\S]+?)(?:\.(?=\s)|<\/USER_SETTINGS_CHANGE>|$)/;

export function readSteps(frames: Iterable<Frame>): StepOutline {
  const steps: { ordinal: number; step: number }[] = [];
  const chosen: [number, string][] = [];
  for (const frame of frames) {
    const step = objectOf(frame);
    if (step === null) continue;
    const index = numberField(step, 'step_index') ?? Number.POSITIVE_INFINITY;
    steps.push({ ordinal: frame.ordinal, step: index });
    const model = CHOICE.exec(stringField(step, 'content') ?? '')?.[1]?.trim();
    if (model !== undefined && stringField(step, 'type') === 'USER_INPUT') chosen.push([index, model]);
  }
  const ordered = [...steps].sort((a, b) => a.step - b.step || a.ordinal - b.ordinal);
  const places = new Map<number, number>();
  steps.forEach(({ ordinal }, i) => {
    if (ordered[i]!.ordinal !== ordinal) places.set(ordered[i]!.ordinal, ordinal);
  });
  return { chosen: chosen.sort((a, b) => a[0] - b[0]), places };
}

/** The model that holds at a step. */
function modelAt(models: ModelSteps, step: number | null): string | null {
  let found: string | null = null;
  for (const [first, model] of models) {
    if (step !== null && first > step) break;
    found = model;
  }
  return found;
}

const REQUEST = /<USER_REQUEST>([\s\S]*?)<\/USER_REQUEST>/g;

function promptOf(content: string): string | null {
  const requests = [...content.matchAll(REQUEST)].map((match) => match[1]!.trim());
  return (requests.length === 0 ? content : requests.join('\n')) || null;
}

export class TranscriptDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext<StepOutline>;
  private readonly models: ModelSteps;
  private readonly held: { place: number; tell: () => void }[] = [];
  private hasSteps = false;

  constructor(context: DecodeContext<StepOutline>, out: Emitter) {
    this.context = context;
    this.out = out;
    const { models } = context.source.hints;
    const recorded = typeof models === 'string' ? (parseOrUndefined(models) as ModelSteps | undefined) : undefined;
    // What the database says of each step is better than what was chosen.
    this.models = recorded !== undefined && recorded.length > 0 ? recorded : (context.outline?.chosen ?? []);
  }

  frame(frame: Frame): void {
    const step = objectOrReport(frame, this.out);
    if (step === null) return;
    this.hasSteps = true;
    const place = this.context.outline?.places.get(frame.ordinal) ?? frame.ordinal;
    const position = { ...frame.position(), ordinal: place };
    if (this.context.outline?.places.size === 0) this.tell(step, position);
    else this.held.push({ place, tell: () => this.tell(step, position) });
  }

  finish(): void {
    for (const { tell } of this.held.sort((a, b) => a.place - b.place)) tell();
    if (!this.hasSteps) return;
    const { source, parentId } = this.context;
    const { cwd } = source.hints;
    this.out.session(
      sessionFields({
        session_id: source.name,
        parent_session_id: parentId ?? null,
        kind: parentId == null ? 'main' : 'subagent',
        cwd: typeof cwd === 'string' ? cwd : null,
        resume_command: resumeCommand('agy --conversation', source.name),
      }),
    );
  }

  private tell(step: Json, position: Position): void {
    const type = stringField(step, 'type') ?? '(no type)';
    const origin = stringField(step, 'source');
    const index = numberField(step, 'step_index');
    const at = (slot: string): ReturnType<typeof eventAt> =>
      eventAt(
        this.context.source.name,
        index === null ? null : `step ${index}`,
        slot,
        position,
        isoTime(field(step, 'created_at')),
      );
    const content = stringField(step, 'content');
    if (type === 'USER_INPUT') {
      const text = content === null ? null : promptOf(content);
      if (text !== null)
        this.out.message(at('message'), messageFields({ role: 'user', kind: type, text, content_kinds: ['text'] }));
    } else if (type === 'PLANNER_RESPONSE') this.reply(step, content, at('message'), modelAt(this.models, index));
    else if (type === 'CONVERSATION_HISTORY') this.out.ignored(type);
    else if (origin === 'MODEL' && type !== 'EPHEMERAL_MESSAGE' && type !== 'SYSTEM_MESSAGE' && type !== 'CHECKPOINT') {
      // One type a tool, an open set; that the command failed stands in the text only.
      this.out.toolResult(at('result'), toolResultFields({ output: content === '' ? null : content }));
    } else if (content !== null && content.trim() !== '') {
      this.out.message(
        at('message'),
        messageFields({ role: 'system', kind: type, text: content, is_meta: true, content_kinds: ['text'] }),
      );
    } else this.out.ignored(type);
    this.calls(step, at);
  }

  private reply(step: Json, content: string | null, at: ReturnType<typeof eventAt>, model: string | null): void {
    const text = content === null || content.trim() === '' ? null : content;
    const thinking = nameField(step, 'thinking');
    if (text === null && thinking === null) return;
    this.out.message(
      at,
      messageFields({
        role: 'assistant',
        kind: 'PLANNER_RESPONSE',
        model,
        text,
        thinking,
        content_kinds: [...(thinking === null ? [] : ['thinking']), ...(text === null ? [] : ['text'])],
      }),
    );
  }

  private calls(step: Json, at: (slot: string) => ReturnType<typeof eventAt>): void {
    objectsField(step, 'tool_calls').forEach((call, index) => {
      const given = field(call, 'args');
      const input = typeof given === 'string' ? parseOrUndefined(given) : given;
      const callId = nameField(call, 'id');
      this.out.toolCall(
        at(`call:${callId ?? index}`),
        toolCallFields({
          call_id: callId,
          ...identifyTool(nameField(call, 'name') ?? nameField(call, 'tool_name'), input),
          arguments: jsonText(given),
        }),
      );
    });
  }
}

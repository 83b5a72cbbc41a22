/** Calls of tools: a first line, and lines that say what became of it. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter, EventAt } from '../agent.ts';
import {
  dig,
  field,
  type Json,
  joinTexts,
  jsonText,
  nameField,
  objectField,
  objectsField,
  stringField,
} from '../dialects/json.ts';
import { eventAt, type Time, toolCallFields, toolResultFields } from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import type { Update } from './update.ts';

/** Of a call so far: of each member the last one that says something. */
interface Call {
  readonly position: Position;
  readonly time: Time;
  readonly isCopy: boolean;
  readonly title: string | null;
  name: string | null;
  input: unknown;
  status: string | null;
  content: readonly Json[] | null;
  rawOutput: unknown;
  /** Of the line with the last status. */
  ended: { readonly position: Position; readonly time: Time };
}

export class Calls {
  private readonly open = new Map<string, Call>();
  private readonly out: Emitter;
  private readonly sessionId: string;

  constructor(sessionId: string, out: Emitter) {
    this.sessionId = sessionId;
    this.out = out;
  }

  has(id: string): boolean {
    return this.open.has(id);
  }

  take(id: string, { update, meta, time }: Update, position: Position, isCopy: boolean): void {
    let call = this.open.get(id);
    if (call === undefined) {
      const title = nameField(update, 'title');
      const ended = { position, time };
      call = {
        position,
        time,
        isCopy,
        title,
        name: null,
        input: null,
        status: null,
        content: null,
        rawOutput: null,
        ended,
      };
      this.open.set(id, call);
    }
    const tool = objectField(meta, 'x.ai/tool');
    call.name = (tool === null ? null : nameField(tool, 'name')) ?? call.name;
    call.input = field(update, 'rawInput') ?? call.input;
    call.rawOutput = field(update, 'rawOutput') ?? call.rawOutput;
    if (Array.isArray(field(update, 'content'))) call.content = objectsField(update, 'content');
    const status = nameField(update, 'status');
    if (status !== null) {
      call.status = status;
      call.ended = { position, time };
    }
  }

  /** Tells a call of which no more will be heard. */
  close(id: string): void {
    const call = this.open.get(id);
    if (call === undefined) return;
    const at = (slot: string, of: { position: Position; time: Time }): EventAt =>
      eventAt(this.sessionId, id, slot, of.position, of.time);
    const name = call.name ?? call.title;
    this.out.toolCall(
      at('call', call),
      toolCallFields({
        is_copy: call.isCopy,
        call_id: id,
        ...identifyTool(name, call.input),
        arguments: jsonText(call.input),
      }),
    );
    if (call.status === 'completed' || call.status === 'failed')
      this.out.toolResult(
        at('result', call.ended),
        toolResultFields({
          is_copy: call.isCopy,
          call_id: id,
          is_error: call.status === 'failed',
          ...outputOf(call),
        }),
      );
    // Later lines of the same call are none of a new one.
    this.open.set(id, { ...call, input: null, content: null, rawOutput: null });
  }
}

/** Texts of the answer; else the tool's own. Differences and terminals stay as they are. */
function outputOf({ content, rawOutput }: Call): { output: string | null; output_json: string | null } {
  const isText = (entry: Json): boolean =>
    stringField(entry, 'type') === 'content' && typeof dig(entry, 'content', 'text') === 'string';
  const texts = (content ?? []).filter(isText).map((entry) => String(dig(entry, 'content', 'text')));
  const others = (content ?? []).filter((entry) => !isText(entry));
  const raw = typeof rawOutput === 'string' ? rawOutput : null;
  const rest = others.length > 0 ? others : rawOutput;
  return {
    output: joinTexts(texts) ?? (others.length > 0 ? null : (raw ?? jsonText(rawOutput))),
    output_json: rest === null || typeof rest !== 'object' ? null : JSON.stringify(rest),
  };
}

/** Transcripts: blocks as Anthropic spells them, without ids and times. */
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { readBlocks } from '../dialects/anthropic.ts';
import { reportContent } from '../dialects/content-fault.ts';
import { objectOrReport } from '../dialects/frames.ts';
import { field, objectField, stringField } from '../dialects/json.ts';
import { eventAt, messageFields, NO_TIME, resumeCommand, sessionFields } from '../dialects/rows.ts';
import { tellCalls, tellResults } from '../dialects/tell-tools.ts';
import { readPrompt, withoutMark } from './prompts.ts';

export class TranscriptDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private hasRecords = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const line = objectOrReport(frame, this.out);
    if (line === null) return;
    const role = stringField(line, 'role');
    if (role === null) {
      const type = stringField(line, 'type');
      if (type === 'turn_ended') this.out.ignored(type);
      else this.out.unknown(type ?? '(no role)');
      return;
    }
    if (role !== 'user' && role !== 'assistant') {
      this.out.unknown(`message/${role}`);
      return;
    }
    this.hasRecords = true;
    const message = objectField(line, 'message') ?? line;
    reportContent(field(message, 'content'), frame.position(), this.out);
    const blocks = readBlocks(field(message, 'content'), (type) => this.out.unknown(type));
    const sessionId = this.context.source.name;
    const at = (slot: string): ReturnType<typeof eventAt> => eventAt(sessionId, null, slot, frame.position(), NO_TIME);
    const prompt = role === 'user' && blocks.text !== null ? readPrompt(blocks.text) : null;
    const text = role === 'user' ? (prompt?.text ?? null) : withoutMark(blocks.text);
    if (text !== null || blocks.thinking !== null) {
      this.out.message(
        at('message'),
        messageFields({
          role,
          text,
          thinking: blocks.thinking,
          is_meta: prompt?.isMeta ?? false,
          content_kinds: [...blocks.kinds],
        }),
      );
    }
    tellCalls(blocks.calls, { at }, this.out);
    tellResults(blocks.results, { at }, this.out);
  }

  finish(): void {
    if (this.hasRecords) tellTranscript(this.context, this.out);
  }
}

/** The session of a transcript: its name is its id, and its folder says whose child it is. */
export function tellTranscript({ source }: DecodeContext, out: Emitter): void {
  // What this store does not know, another one of the conversation may.
  const text = (name: string): string | null => {
    const value = source.hints[name] ?? source.hints[`${name} elsewhere`];
    return typeof value === 'string' ? value : null;
  };
  const parent = text('parent');
  out.session(
    sessionFields({
      session_id: source.name,
      parent_session_id: parent,
      kind: parent === null ? 'main' : 'subagent',
      title: text('title'),
      cwd: text('cwd'),
      resume_command: parent === null ? resumeCommand('cursor-agent --resume', source.name) : null,
    }),
  );
}

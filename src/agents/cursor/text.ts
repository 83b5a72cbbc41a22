/** Transcripts of old versions: plain text, a line opens a block. */
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { eventAt, messageFields, toolCallFields, toolResultFields } from '../dialects/rows.ts';
import { identifyTool } from '../dialects/tools.ts';
import { readPrompt, withoutMark } from './prompts.ts';
import { tellTranscript } from './transcript.ts';

type Kind = 'user' | 'assistant' | 'thinking' | 'call' | 'result';

interface Block {
  readonly kind: Kind;
  readonly name: string | null;
  readonly position: Position;
  readonly lines: string[];
}

function opening(line: string): { kind: Kind; name: string | null } | null {
  if (line === 'user:') return { kind: 'user', name: null };
  if (line === 'assistant:') return { kind: 'assistant', name: null };
  if (line === '[Thinking]') return { kind: 'thinking', name: null };
  const tool = /^\[Tool (call|result)\](?: (.+))?$/.exec(line);
  return tool === null ? null : { kind: tool[1] === 'call' ? 'call' : 'result', name: tool[2] ?? null };
}

export class TextDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private block: Block | null = null;
  private hasRecords = false;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    if (frame.oversized === true) frame.json();
    const line = frame.bytes().toString('utf8');
    const opens = opening(line);
    if (opens !== null) {
      this.end();
      this.block = { ...opens, position: frame.position(), lines: [] };
    } else if (this.block !== null) this.block.lines.push(line);
    else if (line.trim() !== '') this.out.ignored('line before the first block');
  }

  finish(): void {
    this.end();
    if (this.hasRecords) tellTranscript(this.context, this.out);
  }

  private end(): void {
    const { block, out } = this;
    this.block = null;
    if (block === null) return;
    this.hasRecords = true;
    const at = eventAt(this.context.source.name, null, block.kind, block.position);
    const body = block.lines.join('\n').trim();
    switch (block.kind) {
      case 'user': {
        const prompt = readPrompt(body);
        if (prompt.text !== null)
          out.message(
            at,
            messageFields({ role: 'user', text: prompt.text, is_meta: prompt.isMeta, content_kinds: ['text'] }),
          );
        break;
      }
      case 'assistant': {
        const text = withoutMark(body);
        if (text !== null) out.message(at, messageFields({ role: 'assistant', text, content_kinds: ['text'] }));
        break;
      }
      case 'thinking':
        if (body !== '')
          out.message(
            at,
            messageFields({ role: 'assistant', thinking: indented(block.lines), content_kinds: ['thinking'] }),
          );
        break;
      case 'call':
        out.toolCall(at, toolCallFields({ ...identifyTool(block.name, undefined), arguments: indented(block.lines) }));
        break;
      case 'result':
        out.toolResult(at, toolResultFields({ output: indented(block.lines) }));
        break;
    }
  }
}

/** Bodies of these blocks are indented. */
const indented = (lines: readonly string[]): string | null =>
  lines
    .map((line) => line.replace(/^ {2}/, ''))
    .join('\n')
    .trim() || null;

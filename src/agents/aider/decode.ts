/** Lines of a log to runs, prompts and replies. */
import { isUtf8 } from 'node:buffer';
import type { Frame, Position } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { eventAt, messageFields, sessionFields } from '../dialects/rows.ts';
import { type HistoryOutline, headerTime, LineReader, textOf } from './lines.ts';
import { noFacts, noteNotice, type RunFacts } from './notices.ts';

/** With which the writer sets reasoning apart that a provider sends apart (a constant of it). */
const THINKING_OPEN = '<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>';
/** The same closed, or closed by a tag of the model's own. */
const THINKING_CLOSE = /^<\/[A-Za-z][\w-]*>$/;

interface Block {
  readonly role: 'user' | 'assistant';
  readonly lines: string[];
  readonly start: Position;
  end: Position;
}

interface Run {
  readonly id: string;
  readonly reader: LineReader;
  readonly facts: RunFacts;
  hasMessages: boolean;
}

export class HistoryDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly outline: HistoryOutline;
  private readonly cwd: string | null;
  private readonly sameTime = new Map<string, number>();
  private run: Run | null = null;
  private block: Block | null = null;

  constructor(context: DecodeContext<HistoryOutline>, out: Emitter) {
    this.out = out;
    this.outline = context.outline ?? { runs: new Map() };
    const { cwd } = context.source.hints;
    this.cwd = typeof cwd === 'string' ? cwd : null;
  }

  frame(frame: Frame): void {
    if (frame.oversized === true) frame.json();
    if (!isUtf8(frame.bytes()))
      this.out.badRecord(frame.position(), 'invalid_utf8', 'the line is not valid UTF-8; what is none was replaced');
    const line = textOf(frame);
    const run = this.outline.runs.get(frame.ordinal);
    if (run !== undefined) this.begin(headerTime(line)!, run.isSigned);
    else if (this.run === null) {
      // What stands before the first header belongs to no run.
      if (line !== '') this.out.ignored('line before the first run');
    } else this.line(line, frame.position(), this.run);
  }

  finish(): void {
    this.end();
  }

  private begin(time: string, isSigned: boolean): void {
    this.end();
    const index = this.sameTime.get(time) ?? 0;
    this.sameTime.set(time, index + 1);
    this.run = { id: `${time}#${index}`, reader: new LineReader(isSigned), facts: noFacts(), hasMessages: false };
  }

  private end(): void {
    this.endBlock();
    const { run } = this;
    this.run = null;
    // A run that was only opened is no session.
    if (run === null || !run.hasMessages) return;
    const { facts } = run;
    this.out.session(
      sessionFields({
        session_id: run.id,
        cwd: this.cwd,
        agent_version: facts.version,
        resume_command: 'aider --restore-chat-history',
        reported_input_tokens: facts.sent,
        reported_output_tokens: facts.received,
        reported_cost_usd: facts.cost,
        extra: facts.sent === null ? null : { reported_tokens: 'rounded figures that aider prints' },
      }),
    );
  }

  private line(line: string, position: Position, run: Run): void {
    const kind = run.reader.kind(line);
    switch (kind) {
      case 'notice':
        this.endBlock();
        noteNotice(line, run.facts);
        break;
      case 'empty':
        // Inside a reply it is part of the text; a prompt ends with it.
        if (this.block?.role === 'user') this.endBlock();
        else this.block?.lines.push('');
        break;
      case 'user':
        this.add('user', line.slice('#### '.length).replace(/ {2}$/, ''), position);
        break;
      case 'reply':
        this.add('assistant', line, position);
        break;
    }
  }

  private add(role: Block['role'], line: string, position: Position): void {
    if (this.block !== null && this.block.role !== role) this.endBlock();
    this.block ??= { role, lines: [], start: position, end: position };
    this.block.lines.push(line);
    this.block.end = position;
  }

  private endBlock(): void {
    const { block, run } = this;
    this.block = null;
    if (block === null || run === null) return;
    if (block.role === 'user') this.tellPrompt(block, run);
    else this.tellReply(block, run);
  }

  private at(block: Block, run: Run): ReturnType<typeof eventAt> {
    return eventAt(run.id, null, 'message', { ...block.start, byteEnd: block.end.byteEnd });
  }

  private tellPrompt(block: Block, run: Run): void {
    const text = block.lines.join('\n');
    // Empty input is logged so.
    if (text === '<blank>') return;
    run.hasMessages = true;
    this.out.message(
      this.at(block, run),
      messageFields({ role: 'user', text, is_meta: isAutomatic(block.lines), content_kinds: ['text'] }),
    );
  }

  private tellReply(block: Block, run: Run): void {
    const { text, thinking } = splitThinking(block.lines);
    if (text === null && thinking === null) return;
    run.hasMessages = true;
    this.out.message(
      this.at(block, run),
      messageFields({
        role: 'assistant',
        model: run.facts.model,
        text,
        thinking,
        content_kinds: [...(thinking === null ? [] : ['thinking']), ...(text === null ? [] : ['text'])],
      }),
    );
  }
}

/** A group question that was answered for all is logged as if it had been typed. */
const isAutomatic = (lines: readonly string[]): boolean =>
  lines.length === 1 && lines[0]!.includes('(Y)es/(N)o') && /\]: (?:all|skip)$/.test(lines[0]!);

/** Without the blank lines around; null where nothing is left. */
function trimmed(lines: readonly string[]): string | null {
  const isBlank = (line: string | undefined): boolean => line !== undefined && line.trim() === '';
  let start = 0;
  let end = lines.length;
  while (start < end && isBlank(lines[start])) start++;
  while (end > start && isBlank(lines[end - 1])) end--;
  return start === end ? null : lines.slice(start, end).join('\n');
}

function splitThinking(lines: readonly string[]): { text: string | null; thinking: string | null } {
  if (lines[0]?.trim() !== THINKING_OPEN) return { text: trimmed(lines), thinking: null };
  const close = lines.findIndex((line, index) => index > 0 && THINKING_CLOSE.test(line.trim()));
  // A reply that was cut before the tag is all thinking.
  if (close === -1) return { text: null, thinking: trimmed(lines.slice(1)) };
  return { text: trimmed(lines.slice(close + 1)), thinking: trimmed(lines.slice(1, close)) };
}

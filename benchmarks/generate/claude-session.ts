import {
  writeAgentProgress,
  writeApiError,
  writeCompaction,
  writeEndOfTurn,
  writeFileSnapshot,
  writeQueueOperations,
  writeStartOfSession,
  writeTaskReminder,
  writeTitle,
  writeToolProgress,
} from './claude-extras.ts';
import {
  type AgentReply,
  type ClaudeEra,
  type ClaudePlace,
  ClaudeRows,
  type ClaudeUsage,
  type ClaudeView,
  usageJson,
} from './claude-rows.ts';
import { makeToolCall, quoted, type ToolCall, writeString } from './claude-tools.ts';
import type { Random } from './random.ts';
import type { FileSink } from './sink.ts';
import { type Span, sentence, type Texts } from './text.ts';

export interface AgentRun {
  agentId: string;
  replies: AgentReply[];
  report: Span;
}

export interface ClaudeSessionOptions {
  sink: FileSink;
  texts: Texts;
  random: Random;
  era: ClaudeEra;
  place: ClaudePlace;
  view: ClaudeView;
  model: string;
  start: number;
  /** Writes a sub agent's file, begun by the given call, and says what it answered. Null where sub agents start none. */
  runAgent: ((toolUseId: string, now: number, random: Random) => AgentRun) | null;
}

interface Reply {
  thinking: { text: Span | null; signature: number } | null;
  text: Span | null;
  calls: ToolCall[];
  usage: ClaudeUsage;
}

/**
 * One session file of Claude Code, written turn by turn. The rows follow only from the options, so a resumed or forked
 * session repeats its parent's history by running the parent's options again under another view.
 */
export class ClaudeSession {
  readonly rows: ClaudeRows;
  readonly replies: AgentReply[] = [];
  readonly #options: ClaudeSessionOptions;
  readonly #sink: FileSink;
  #random: Random;
  #turns = 0;
  /** Tokens in the model's context so far, all cached, and those added since the last reply. */
  #context = 0;
  #fresh: number;
  readonly #title: string;
  /** Given by the person, not by the model. */
  readonly #titleTyped: boolean;
  #titledAt = 0;

  constructor(options: ClaudeSessionOptions) {
    const { sink, era, random, start, place, view } = options;
    this.#options = options;
    this.#sink = sink;
    this.#random = random;
    this.rows = new ClaudeRows(sink, era, random, start, place, view);
    this.#fresh = random.int(9_000, 22_000);
    this.#title = sentence(random).slice(0, -1);
    this.#titleTyped = random.chance(0.1);
  }

  /** From here on the rows are the session's own: after the copied history, under its own name and with its own dice. */
  goOn(view: ClaudeView, random: Random): void {
    this.#random = random;
    this.rows.random = random;
    this.rows.view = view;
    this.rows.now += random.int(60_000, 40_000_000);
  }

  /** Turns written so far. */
  get turns(): number {
    return this.#turns;
  }

  /** Writes turns until the file has that many bytes (at least one turn). */
  run(bytes: number): void {
    if (this.#turns === 0) this.#startOfSession();
    do this.#turn(bytes);
    while (this.#sink.bytes < bytes);
  }

  /** Writes the first turns again. They must not reach the origin's last one, which its size has cut short. */
  replay(turns: number): void {
    this.#startOfSession();
    while (this.#turns < turns) this.#turn(Number.POSITIVE_INFINITY);
  }

  /** A sub agent's file: one prompt, replies until the size is reached, a report. */
  runAsAgent(bytes: number, report: Span): void {
    this.#prompt(this.#options.texts.spoken(this.#random, 600));
    do this.#reply(true);
    while (this.#sink.bytes < bytes);
    this.#reply(false, report);
  }

  #startOfSession(): void {
    if (!this.rows.era.rich) return;
    writeStartOfSession(this.rows, this.#options.texts.span(this.#random, 'prose', this.#random.int(5_000, 16_000)));
  }

  #turn(limit: number): void {
    const random = this.#random;
    const { rows } = this;
    this.#turns++;
    if (this.#context > 150_000) this.#compact();
    if (random.chance(0.1)) writeQueueOperations(rows);
    this.#prompt(this.#options.texts.spoken(random, random.size(180, 1.2, 20, 12_000)));
    writeFileSnapshot(rows, this.#turns);
    if (rows.era.rich && random.chance(0.12)) writeTaskReminder(rows);
    if (random.chance(0.004)) writeApiError(rows);
    const started = rows.now;
    for (let more = random.size(6, 0.9, 0, 60); more > 0 && this.#sink.bytes < limit; more--) this.#reply(true);
    this.#reply(false);
    this.#endOfTurn(rows.now - started);
  }

  #prompt(text: Span): void {
    const { rows } = this;
    rows.wait(5_000, 400_000);
    rows.begin();
    if (rows.era.rich) this.#sink.text(`,"promptId":"${this.#random.uuid()}"`);
    this.#sink.text(',"type":"user","message":{"role":"user","content":');
    writeString(this.#sink, text);
    rows.end('}', rows.era.rich ? () => this.#sink.text(',"permissionMode":"default"') : undefined);
    this.#fresh += (text.to - text.from) >> 2;
  }

  /** One API reply: its blocks on rows of their own, its tool results, and what they add to the context. */
  #reply(withCalls: boolean, text?: Span): void {
    const random = this.#random;
    const { rows } = this;
    const reply = this.#planReply(withCalls, text);
    const messageId = `msg_01${random.id(22)}`;
    const requestId = `req_011${random.id(21)}`;
    rows.wait(1_200, 20_000);
    const blocks = (reply.thinking ? 1 : 0) + (reply.text ? 1 : 0) + reply.calls.length;
    let block = 0;
    const row = (writeBlock: () => void): void => {
      block++;
      rows.begin();
      this.#writeMessage(messageId, requestId, reply, block === blocks, writeBlock);
      rows.wait(50, 900);
    };
    if (reply.thinking) row(() => this.#writeThinking(reply));
    const said = reply.text;
    if (said) row(() => writeTextBlock(this.#sink, said));
    // Parallel calls: the results of the early ones sometimes come before the rows of the later ones.
    const early = reply.calls.length > 1 && random.chance(0.4);
    const rowOf = new Map<ToolCall, string>();
    for (const call of reply.calls) {
      row(() => writeToolUse(this.#sink, call, rows.era));
      rowOf.set(call, rows.lastUuid);
      if (early) this.#result(call, rows.lastUuid);
    }
    const first = reply.calls[0];
    if (first && this.replies.length < 8) {
      this.replies.push({
        messageId,
        requestId,
        toolId: first.id,
        usage: usageJson(reply.usage, rows.era, rows.era.finalUsage !== 'none'),
      });
    }
    if (!early) for (const call of reply.calls) this.#result(call, rowOf.get(call) as string);
    if (withCalls && this.#options.runAgent && random.chance(0.012)) this.#delegate(messageId, requestId, reply);
  }

  #planReply(withCalls: boolean, text?: Span): Reply {
    const random = this.#random;
    const { texts, place } = this.#options;
    const thinks = random.chance(0.4);
    const hidden = this.rows.era.rich && random.chance(0.6);
    const thinking = thinks
      ? {
          text: hidden ? null : texts.spoken(random, random.size(700, 1, 60, 20_000)),
          signature: random.size(500, 0.8, 200, 6_000) & ~3,
        }
      : null;
    const speaks = !withCalls || random.chance(0.35);
    const said = text ?? (speaks ? texts.spoken(random, random.size(withCalls ? 120 : 700, 1, 20, 16_000)) : null);
    const calls: ToolCall[] = [];
    const count = !withCalls ? 0 : random.chance(0.8) ? 1 : random.int(2, 5);
    while (calls.length < count) calls.push(makeToolCall({ random, texts, cwd: place.cwd }));
    let bytes = 40;
    if (thinking) bytes += thinking.text ? thinking.text.to - thinking.text.from : 900;
    if (said) bytes += said.to - said.from;
    for (const call of calls) bytes += call.inputBytes;
    return { thinking, text: said, calls, usage: this.#bill(Math.max(5, bytes >> 2)) };
  }

  /** The counters of a reply: what was new is written to the cache, what came before is read from it. */
  #bill(output: number): ClaudeUsage {
    const cacheWrite = this.#fresh;
    const usage: ClaudeUsage = {
      input: this.#random.int(1, 9),
      cacheWrite,
      cacheWrite1h: this.rows.era.rich ? cacheWrite : 0,
      cacheRead: this.#context,
      output,
      early: this.#random.int(1, 8),
    };
    this.#context += cacheWrite;
    this.#fresh = output;
    return usage;
  }

  #writeMessage(messageId: string, requestId: string, reply: Reply, last: boolean, writeBlock: () => void): void {
    const { era, view } = this.rows;
    const final = era.finalUsage === 'all' || (era.finalUsage === 'last' && last);
    const stop = final ? (reply.calls.length > 0 ? '"tool_use"' : '"end_turn"') : 'null';
    this.#sink.text(
      `,"message":{"model":"${this.#options.model}","id":"${messageId}","type":"message","role":"assistant","content":[`,
    );
    writeBlock();
    this.#sink.text(
      `],"stop_reason":${stop},"stop_sequence":null${era.rich ? ',"stop_details":null' : ''},"usage":${usageJson(reply.usage, era, final)}},"requestId":"${requestId}"`,
    );
    if (view.requestSessionId !== undefined) this.#sink.text(`,"requestSessionId":"${view.requestSessionId}"`);
    this.rows.end(',"type":"assistant"');
  }

  #writeThinking({ thinking }: Reply): void {
    if (!thinking) return;
    this.#sink.text('{"type":"thinking","thinking":"');
    if (thinking.text) this.#sink.span(thinking.text);
    this.#sink.text('","signature":"');
    this.#sink.raw(...this.#options.texts.base64(this.#random, thinking.signature));
    this.#sink.text('"}');
  }

  #result(call: ToolCall, assistantUuid: string): void {
    const { rows } = this;
    if (rows.era.progress) writeToolProgress(rows, call);
    rows.wait(20, 30_000);
    this.#writeResult(call, assistantUuid);
    this.#fresh += call.outputBytes >> 2;
  }

  #writeResult(call: ToolCall, assistantUuid: string): void {
    const { rows } = this;
    rows.begin();
    this.#sink.text(
      `,"type":"user","message":{"role":"user","content":[{"tool_use_id":"${call.id}","type":"tool_result","content":`,
    );
    call.writeContent(this.#sink);
    this.#sink.text(call.isError === null ? '}]}' : `,"is_error":${call.isError}}]}`);
    rows.end('', () => {
      this.#sink.text(',"toolUseResult":');
      call.writeSide(this.#sink);
      if (rows.era.rich) this.#sink.text(`,"sourceToolAssistantUUID":"${assistantUuid}"`);
    });
  }

  /** A call of a sub agent: its transcript goes to its own file, the parent holds the report and (some versions) progress rows. */
  #delegate(messageId: string, requestId: string, reply: Reply): void {
    const { rows } = this;
    const { runAgent } = this.#options;
    if (!runAgent) return;
    const random = this.#random;
    const id = `toolu_01${random.id(22)}`;
    const run = runAgent(id, rows.now, random);
    const prompt = quoted(sentence(random));
    const writeReport = (sink: FileSink): void => {
      sink.text('[{"type":"text","text":');
      writeString(sink, run.report);
      sink.text('}]');
    };
    const call: ToolCall = {
      id,
      name: rows.era.rich ? 'Agent' : 'Task',
      inputBytes: prompt.length,
      outputBytes: run.report.to - run.report.from,
      isError: null,
      writeInput: (sink) =>
        sink.text(`{"description":"Look into it","prompt":${prompt},"subagent_type":"general-purpose"}`),
      writeContent: writeReport,
      writeSide: (sink) => {
        sink.text(`{"status":"completed","prompt":${prompt},"agentId":"${run.agentId}","content":`);
        writeReport(sink);
        sink.text(
          `,"totalDurationMs":51000,"totalTokens":26000,"totalToolUseCount":9,"usage":${run.replies[0]?.usage ?? 'null'}}`,
        );
      },
    };
    const wrapped: Reply = { ...reply, calls: [call] };
    rows.begin();
    this.#writeMessage(messageId, requestId, wrapped, true, () => writeToolUse(this.#sink, call, rows.era));
    if (rows.era.progress) for (const copy of run.replies) writeAgentProgress(rows, id, run.agentId, copy);
    rows.wait(20_000, 400_000);
    this.#writeResult(call, rows.lastUuid);
    this.#fresh += call.outputBytes >> 2;
  }

  #compact(): void {
    const summary = this.#options.texts.span(this.#random, 'prose', this.#random.int(4_000, 12_000));
    writeCompaction(this.rows, summary, this.#context);
    this.#context = 0;
    this.#fresh = 14_000 + ((summary.to - summary.from) >> 2);
  }

  #endOfTurn(durationMs: number): void {
    const { rows } = this;
    writeEndOfTurn(rows, durationMs);
    if (rows.view.copying) return;
    // Titles are written again about every 32 KB, so that a reader of the file's tail finds them.
    if (this.#titledAt !== 0 && this.#sink.bytes - this.#titledAt < 32_768) return;
    this.#titledAt = this.#sink.bytes;
    writeTitle(rows, this.#title, this.#titleTyped);
  }
}

function writeTextBlock(sink: FileSink, text: Span): void {
  sink.text('{"type":"text","text":');
  writeString(sink, text);
  sink.text('}');
}

function writeToolUse(sink: FileSink, call: ToolCall, era: ClaudeEra): void {
  sink.text(`{"type":"tool_use","id":"${call.id}","name":"${call.name}","input":`);
  call.writeInput(sink);
  sink.text(era.rich ? ',"caller":{"type":"direct"}}' : '}');
}

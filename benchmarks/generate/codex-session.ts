import { addVector, type CodexEra, CodexLines, type CodexVector, emptyVector, vectorJson } from './codex-lines.ts';
import { type CodexCall, makeCodexCall } from './codex-tools.ts';
import type { Random } from './random.ts';
import type { FileSink } from './sink.ts';
import { type Span, sentence, type Texts } from './text.ts';

export interface CodexIdentity {
  threadId: string;
  /** The thread that spawned this one as a sub agent. */
  spawnedBy: string | null;
  forkedFrom: string | null;
  start: number;
}

export interface CodexSessionOptions {
  sink: FileSink;
  texts: Texts;
  random: Random;
  era: CodexEra;
  cwd: string;
  branch: string;
  identity: CodexIdentity;
}

/**
 * One rollout of Codex, written turn by turn. As with Claude, the lines follow only from the options, so a fork repeats
 * its parent's history by running the parent's options again.
 */
export class CodexSession {
  readonly lines: CodexLines;
  readonly #options: CodexSessionOptions;
  readonly #sink: FileSink;
  #random: Random;
  #identity: CodexIdentity;
  #turns = 0;
  #turnId = '';
  readonly #total = emptyVector();
  readonly #recorded = emptyVector();
  #last = emptyVector();
  #context: number;
  #cached = 0;
  /** Prompts since the last compaction: they survive it as replacement history. */
  #prompts: Span[] = [];

  constructor(options: CodexSessionOptions) {
    this.#options = options;
    this.#sink = options.sink;
    this.#random = options.random;
    this.#identity = options.identity;
    this.lines = new CodexLines(options.sink, options.era, options.random, options.identity.start);
    this.#context = options.random.int(8_000, 14_000);
  }

  get turns(): number {
    return this.#turns;
  }

  /** The header. A fork's file has two: its own, then its parent's. */
  header(identity: CodexIdentity): void {
    const { era, cwd, branch, texts } = this.#options;
    const source = identity.spawnedBy
      ? `{"subagent":{"thread_spawn":{"parent_thread_id":"${identity.spawnedBy}","depth":1,"agent_role":"explorer"}}}`
      : '"cli"';
    this.lines.begin('session_meta');
    this.#sink.text(
      `{"id":"${identity.threadId}","timestamp":"${new Date(identity.start).toISOString()}","cwd":${JSON.stringify(cwd)},"originator":"codex_cli_rs","cli_version":"${era.version}","source":${source},"thread_source":"${identity.spawnedBy ? 'subagent' : 'user'}","model_provider":"openai","base_instructions":{"text":"`,
    );
    // The instructions are the same text in every file of a version, as in real stores.
    const pool = texts.pool('prose');
    const end = pool.ends.findIndex((at) => at > 17_000);
    this.#sink.raw(pool.escaped, 0, pool.ends[end] as number);
    this.#sink.text('"}');
    if (identity.forkedFrom) this.#sink.text(`,"forked_from_id":"${identity.forkedFrom}"`);
    if (identity.spawnedBy) this.#sink.text(`,"parent_thread_id":"${identity.spawnedBy}"`);
    if (era.paginated) this.#sink.text(',"history_mode":"paginated"');
    this.lines.end(
      `,"git":{"commit_hash":"${'0'.repeat(40)}","branch":${JSON.stringify(branch)},"repository_url":"https://example.com/dev/app.git"}}`,
    );
  }

  run(bytes: number): void {
    do this.#turn(bytes);
    while (this.#sink.bytes < bytes);
  }

  /** Writes the first turns again, stamped with the time of the fork. They must not reach the origin's last one. */
  replay(turns: number, at: number): void {
    this.lines.stampedAt = at;
    while (this.#turns < turns) this.#turn(Number.POSITIVE_INFINITY);
    this.lines.stampedAt = null;
  }

  goOn(identity: CodexIdentity, random: Random): void {
    this.#identity = identity;
    this.#random = random;
    this.lines.random = random;
    this.lines.now = identity.start + random.int(2_000, 90_000);
  }

  #turn(limit: number): void {
    const random = this.#random;
    const { lines } = this;
    const { texts } = this.#options;
    lines.wait(10_000, 500_000);
    this.#turnId = random.uuidAt(lines.now);
    lines.event(`"type":"task_started","turn_id":"${this.#turnId}","model_context_window":272000`);
    if (this.#turns === 0) this.#instructions();
    this.#turns++;
    if (this.#context > 220_000) this.#compact();
    this.#turnContext();
    this.#prompt(texts.spoken(random, random.size(220, 1.2, 20, 16_000)));
    if (random.chance(0.6)) lines.event(`"type":"token_count","info":null,"rate_limits":${this.#rateLimits()}`);
    for (let more = random.size(7, 0.9, 0, 80); more > 0 && this.#sink.bytes < limit; more--) this.#reply(true);
    const said = this.#reply(false);
    lines.begin('event_msg');
    this.#sink.text(`{"type":"task_complete","turn_id":"${this.#turnId}","last_agent_message":"`);
    if (said) this.#sink.span(said);
    lines.end('"}');
  }

  /** What is put before the first prompt: permissions, the project's instructions, the environment. */
  #instructions(): void {
    const random = this.#random;
    const { texts, cwd, era } = this.#options;
    this.#message(
      'developer',
      'input_text',
      texts.span(random, 'prose', random.int(4_000, 21_000)),
      '<permissions instructions>\\n',
    );
    const agents = texts.span(random, random.chance(0.15) ? 'world' : 'prose', random.size(4_000, 1, 300, 34_000));
    this.#message('user', 'input_text', agents, '# AGENTS.md instructions for the project\\n\\n');
    const directory = JSON.stringify(cwd).slice(1, -1);
    this.lines.line(
      'response_item',
      `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\\n  <cwd>${directory}</cwd>\\n  <shell>bash</shell>\\n</environment_context>"}]}`,
    );
    if (!era.paginated) return;
    this.lines.begin('world_state');
    this.#sink.text(`{"full":true,"state":{"agents_md":{"directory":"${directory}","text":"`);
    this.#sink.span(agents);
    this.lines.end('"},"apps_instructions":true}}');
  }

  #turnContext(): void {
    const random = this.#random;
    const { lines } = this;
    const { cwd, era, texts } = this.#options;
    const rules = texts.span(random, 'prose', random.chance(0.4) ? 7_000 : 500);
    lines.begin('turn_context');
    this.#sink.text(
      `{"turn_id":"${this.#turnId}","cwd":${JSON.stringify(cwd)},"approval_policy":"on-request","sandbox_policy":{"type":"workspace-write","network_access":false},"model":"${era.model}","effort":"high","summary":"auto","collaboration_mode":{"mode":"default","settings":{"model":"${era.model}","developer_instructions":"`,
    );
    this.#sink.span(rules);
    lines.end('"}}}');
  }

  #message(role: string, kind: string, text: Span, before = '', after = ''): void {
    this.lines.begin('response_item');
    this.#sink.text(`{"type":"message","role":"${role}","content":[{"type":"${kind}","text":"${before}`);
    this.#sink.span(text);
    this.lines.end(`"}]${after}}`);
  }

  /** Older versions mirror items as events of their own kind, newer ones as `item_completed`. */
  #mirror(event: string, field: string, itemType: string, text: Span, rest: string): void {
    this.lines.begin('event_msg');
    if (this.#options.era.paginated) {
      this.#sink.text(
        `{"type":"item_completed","thread_id":"${this.#identity.threadId}","turn_id":"${this.#turnId}","item":{"type":"${itemType}","content":[{"type":"text","text":"`,
      );
      this.#sink.span(text);
      this.lines.end('"}]}}');
      return;
    }
    this.#sink.text(`{"type":"${event}","${field}":"`);
    this.#sink.span(text);
    this.lines.end(`"${rest}}`);
  }

  #prompt(text: Span): void {
    this.lines.wait(5, 300);
    this.#message('user', 'input_text', text);
    this.#mirror('user_message', 'message', 'UserMessage', text, ',"images":[],"local_images":[],"text_elements":[]');
    this.#prompts.push(text);
    this.#context += (text.to - text.from) >> 2;
  }

  /** One model reply: reasoning, words, calls; its usage; then the calls' outputs. */
  #reply(withCalls: boolean): Span | null {
    const random = this.#random;
    const { lines } = this;
    const { texts, cwd } = this.#options;
    const calls: CodexCall[] = [];
    const count = !withCalls ? 0 : random.chance(0.85) ? 1 : random.int(2, 3);
    while (calls.length < count) calls.push(makeCodexCall({ random, texts, cwd }));
    lines.wait(900, 18_000);
    const reasoning = random.chance(0.7) ? this.#reasoning() : 0;
    const said =
      !withCalls || random.chance(0.25)
        ? texts.spoken(random, random.size(withCalls ? 130 : 800, 1, 20, 16_000))
        : null;
    if (said) {
      const phase = withCalls ? 'commentary' : 'final_answer';
      this.#message('assistant', 'output_text', said, '', `,"phase":"${phase}"`);
      this.#mirror('agent_message', 'message', 'AgentMessage', said, `,"phase":"${phase}"`);
    }
    for (const call of calls) this.#call(call);
    const bytes = calls.reduce((sum, call) => sum + call.inputBytes, said ? said.to - said.from : 20);
    this.#bill(reasoning + Math.max(4, bytes >> 2), reasoning);
    for (const call of calls) this.#output(call);
    return said;
  }

  #reasoning(): number {
    const random = this.#random;
    const { lines } = this;
    const summary = random.chance(0.45) ? `**${sentence(random).slice(0, -1)}**` : null;
    const length = random.size(1_500, 0.8, 400, 16_000) & ~3;
    lines.begin('response_item');
    this.#sink.text(
      `{"type":"reasoning","summary":[${summary ? `{"type":"summary_text","text":"${summary}"}` : ''}],"content":null,"encrypted_content":"gAAAAA`,
    );
    this.#sink.raw(...this.#options.texts.base64(random, length));
    lines.end('"}');
    if (summary && !this.#options.era.paginated) lines.event(`"type":"agent_reasoning","text":"${summary}"`);
    return length >> 3;
  }

  #call(call: CodexCall): void {
    this.lines.wait(5, 200);
    this.lines.begin('response_item');
    this.#sink.text(call.custom ? '{"type":"custom_tool_call","status":"completed",' : '{"type":"function_call",');
    call.writeCall(this.#sink);
    this.lines.end(`,"call_id":"${call.callId}"}`);
  }

  #output(call: CodexCall): void {
    const { lines } = this;
    const random = this.#random;
    lines.wait(30, 12_000);
    if (call.writeMirror && !this.#options.era.paginated) {
      lines.begin('event_msg');
      this.#sink.text(`{"type":"patch_apply_end","call_id":"${call.callId}","turn_id":"${this.#turnId}",`);
      call.writeMirror(this.#sink);
      lines.end('}');
    }
    lines.begin('response_item');
    this.#sink.text(
      `{"type":"${call.custom ? 'custom_tool_call_output' : 'function_call_output'}","call_id":"${call.callId}","output":`,
    );
    call.writeOutput(this.#sink);
    lines.end('}');
    // The same totals again, because the rate limits have changed: 30 to 60 % of all token_count lines.
    if (random.chance(0.6)) this.#tokenCount(this.#total, vectorJson(this.#last, this.#options.era));
    if (random.chance(0.12)) this.#tokenCount(this.#total, vectorJson(this.#last, this.#options.era));
    this.#context += call.outputBytes >> 2;
  }

  #bill(output: number, reasoning: number): void {
    const { era } = this.#options;
    const cacheWrite = era.cacheWrites ? Math.max(0, this.#context - this.#cached) >> 1 : 0;
    const last: CodexVector = { input: this.#context, cached: this.#cached & ~127, cacheWrite, output, reasoning };
    this.#cached = this.#context;
    this.#context += output;
    this.#last = last;
    addVector(this.#total, last);
    // A fork drops its parent's records; its own go on from zero.
    if (era.usageRecords && this.lines.stampedAt === null) this.#usageRecord(last);
    this.#tokenCount(this.#total, vectorJson(last, era));
  }

  #usageRecord(usage: CodexVector): void {
    const { era } = this.#options;
    const id = this.#identity.threadId;
    addVector(this.#recorded, usage);
    const sums = vectorJson(this.#recorded, era);
    this.lines.line(
      'token_usage_record',
      `{"thread_id":"${id}","turn_id":"${this.#turnId}","session_id":"${id}","root_turn_id":"${this.#turnId}","response_id":"resp_${this.#total.input.toString(16)}${id.slice(-12)}","usage":${vectorJson(usage, era)},"turn_token_usage":${sums},"thread_token_usage":${sums}}`,
    );
  }

  #tokenCount(total: CodexVector, last: string): void {
    this.lines.event(
      `"type":"token_count","info":{"total_token_usage":${vectorJson(total, this.#options.era)},"last_token_usage":${last},"model_context_window":272000},"rate_limits":${this.#rateLimits()}`,
    );
  }

  #rateLimits(): string {
    return `{"limit_id":"codex","limit_name":null,"primary":{"used_percent":${this.#random.int(1, 99)}.0,"window_minutes":300,"resets_at":${Math.floor(this.lines.now / 1000) + 9000}},"secondary":null,"credits":null,"plan_type":"plus"}`;
  }

  #compact(): void {
    const { lines } = this;
    const kept = this.#prompts.slice(-20);
    lines.begin('compacted');
    this.#sink.text('{"message":"","replacement_history":[');
    for (const prompt of kept) {
      this.#sink.text('{"type":"message","role":"user","content":[{"type":"input_text","text":"');
      this.#sink.span(prompt);
      this.#sink.text('"}]},');
    }
    this.#sink.text('{"type":"compaction","encrypted_content":"gAAAAA');
    this.#sink.raw(...this.#options.texts.base64(this.#random, this.#random.size(9_000, 0.6, 3_000, 60_000) & ~3));
    lines.end('"}]}');
    lines.event('"type":"context_compacted"');
    this.#prompts = [];
    this.#context = this.#random.int(12_000, 30_000);
    this.#cached = 0;
    // After a compaction the new size is an estimate, told as a vector of which only the total is set.
    this.#tokenCount(this.#total, vectorJson(emptyVector(), this.#options.era, this.#context));
  }
}

/** Lines of rollouts, in the spelling of the writer. */

export const PARENT = '019b1000-0000-7000-8000-0000000000aa';
export const CHILD = '019b2000-0000-7000-8000-0000000000bb';

interface Envelope {
  readonly timestamp: string;
  readonly ordinal?: number;
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

/** Seconds after the hour, as the writer spells a time. */
export const time = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 9, 0, 0) + seconds * 1000).toISOString();

export const line = (type: string, payload: Record<string, unknown>, seconds = 0): Envelope => ({
  timestamp: time(seconds),
  type,
  payload,
});

/** The same lines with the ordinals of a paginated rollout. */
export const paginated = (lines: readonly Envelope[], from = 0): Envelope[] =>
  lines.map(({ timestamp, type, payload }, i) => ({ timestamp, ordinal: from + i, type, payload }));

export const meta = (id: string, more: Record<string, unknown> = {}): Envelope =>
  line('session_meta', {
    id,
    timestamp: time(0),
    cwd: '/home/dev/app',
    originator: 'codex_cli_rs',
    source: 'cli',
    ...more,
  });

export const item = (type: string, payload: Record<string, unknown>, seconds = 0): Envelope =>
  line('response_item', { type, ...payload }, seconds);

const texts = (type: string, text: string | readonly string[]): unknown[] =>
  (typeof text === 'string' ? [text] : text).map((one) => ({ type, text: one }));

export const user = (text: string | readonly string[], more: Record<string, unknown> = {}, seconds = 0): Envelope =>
  item('message', { role: 'user', content: texts('input_text', text), ...more }, seconds);

export const assistant = (text: string, more: Record<string, unknown> = {}, seconds = 0): Envelope =>
  item('message', { role: 'assistant', content: texts('output_text', text), ...more }, seconds);

export const event = (type: string, payload: Record<string, unknown> = {}, seconds = 0): Envelope =>
  line('event_msg', { type, ...payload }, seconds);

export const task = (turnId: string, seconds = 0): Envelope => event('task_started', { turn_id: turnId }, seconds);

export const turn = (turnId: string | null, model = 'model-a', seconds = 0): Envelope =>
  line('turn_context', { ...(turnId === null ? {} : { turn_id: turnId }), cwd: '/home/dev/app', model }, seconds);

export const rollback = (turns: unknown): Envelope => event('thread_rolled_back', { num_turns: turns });

/** A token vector: input, cached, output, reasoning; total is input and output. */
export const vector = (input: number, cached: number, output: number, reasoning = 0): Record<string, unknown> => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: reasoning,
  total_tokens: input + output,
});

export const count = (total: unknown, last?: unknown, seconds = 0): Envelope =>
  event(
    'token_count',
    {
      info: {
        total_token_usage: total,
        ...(last === undefined ? {} : { last_token_usage: last }),
        model_context_window: 1000,
      },
      rate_limits: null,
    },
    seconds,
  );

export const record = (thread: string, responseId: string | null, usage: unknown, seconds = 0): Envelope =>
  line(
    'token_usage_record',
    {
      thread_id: thread,
      turn_id: 't',
      response_id: responseId,
      usage,
      turn_token_usage: vector(9e6, 0, 9e6),
      thread_token_usage: vector(9e6, 0, 9e6),
    },
    seconds,
  );

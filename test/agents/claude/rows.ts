/** Rows of a session file, one by one. */
import { MAIN } from './driver.ts';

type Json = Record<string, unknown>;

export const row = (fields: Json): Json => ({
  parentUuid: null,
  isSidechain: false,
  cwd: '/w',
  sessionId: MAIN,
  version: '2.1.30',
  gitBranch: 'main',
  timestamp: '2026-01-05T10:00:00.000Z',
  ...fields,
});

/** A user row; `fields` override. */
export const user = (uuid: string, content: unknown, fields: Json = {}): Json =>
  row({ type: 'user', message: { role: 'user', content }, uuid, ...fields });

export interface ReplyParts extends Json {
  id?: string | null;
  model?: string;
  stop_reason?: string | null;
  usage?: unknown;
}

/** A row of a reply with the given blocks. */
export const reply = (uuid: string, blocks: unknown, message: ReplyParts = {}, fields: Json = {}): Json =>
  row({
    type: 'assistant',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'opus',
      content: blocks,
      stop_reason: 'end_turn',
      usage: usage(1),
      ...message,
    },
    requestId: 'req_1',
    uuid,
    ...fields,
  });

export const usage = (output: number): Json => ({ input_tokens: 7, output_tokens: output });
export const text = (value: string): Json => ({ type: 'text', text: value });
export const call = (id: string, name: string, input: Json = {}): Json => ({ type: 'tool_use', id, name, input });
export const result = (id: string, content: unknown, fields: Json = {}): Json => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...fields,
});

/** Lines of a file; a string is a line as it is. */
export const lines = (...rows: (Json | string)[]): string =>
  rows.map((r) => `${typeof r === 'string' ? r : JSON.stringify(r)}\n`).join('');

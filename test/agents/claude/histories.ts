/** Generated session files: everything that the format allows to happen, in any order. */
import fc from 'fast-check';
import { MAIN } from './driver.ts';

type Json = Record<string, unknown>;

/** One thing that happens; `a` and `b` choose among what is there. */
export interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly a: number;
  readonly b: number;
}

const KINDS = [
  'prompt',
  'prompt',
  'reply',
  'reply',
  'reply',
  'tools',
  'tools',
  'late row',
  'rewind',
  'mark',
  'unmark',
  'duplicate',
  'twin',
  'attachment',
  'queued',
  'progress',
  'system',
  'compaction',
  'aside',
  'lost parent',
  'title',
  'summary',
  'same id',
  'nameless',
  'damage',
  'other type',
] as const;

const ANYTHING = fc.record({ kind: fc.constantFrom(...KINDS), a: fc.nat(1000), b: fc.nat(1000) });
/** What a session does when nobody rewinds, forks or breaks anything. */
const PLAIN_KINDS = [
  'prompt',
  'reply',
  'reply',
  'tools',
  'tools',
  'attachment',
  'queued',
  'progress',
  'system',
  'compaction',
  'title',
] as const;
const PLAIN = fc.record({ kind: fc.constantFrom(...PLAIN_KINDS), a: fc.nat(1000), b: fc.nat(1000) });

export const histories = fc.array(ANYTHING, { minLength: 1, maxLength: 30 }).map(toText);
/** The same after so many rows that the first ones are out of sight of a saved state. */
export const longHistories = fc
  .array(ANYTHING, { minLength: 1, maxLength: 12 })
  .map((steps) =>
    toText([
      ...Array.from({ length: 80 }, (_, i): Step => ({ kind: i % 2 === 0 ? 'prompt' : 'tools', a: i, b: i })),
      ...steps,
    ]),
  );
export const longPlainHistories = fc.array(PLAIN, { minLength: 60, maxLength: 90 }).map(toText);
export const plainHistories = fc.array(PLAIN, { minLength: 1, maxLength: 30 }).map(toText);

const uuid = (n: number): string => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

class Writer {
  readonly lines: string[] = [];
  readonly rows: Json[] = [];
  private made = 0;
  private clock = Date.UTC(2026, 0, 1);
  leaf: string | null = null;

  row(type: string, fields: Json, parent: string | null = this.leaf): Json {
    this.clock += 1000;
    const row: Json = {
      parentUuid: parent,
      isSidechain: false,
      cwd: '/w',
      sessionId: MAIN,
      version: '2.1.30',
      type,
      ...fields,
      uuid: uuid(++this.made),
      timestamp: new Date(this.clock).toISOString(),
    };
    this.rows.push(row);
    this.write(row);
    if (row['isSidechain'] === false && type !== 'progress') this.leaf = row['uuid'] as string;
    return row;
  }

  write(row: Json): void {
    this.lines.push(JSON.stringify(row));
  }

  pick(n: number): Json | undefined {
    return this.rows[n % Math.max(1, this.rows.length)];
  }

  prompt(text: string, fields: Json = {}, parent: string | null = this.leaf): Json {
    return this.row('user', { message: { role: 'user', content: text }, ...fields }, parent);
  }

  replyRow(id: string | null, block: Json, output: number, fields: Json = {}, parent: string | null = this.leaf): Json {
    const message = {
      ...(id === null ? {} : { id }),
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [block],
      stop_reason: output % 2 === 0 ? 'end_turn' : null,
      usage: { input_tokens: 3, output_tokens: output, cache_read_input_tokens: 5 },
    };
    return this.row('assistant', { message, ...(id === null ? {} : { requestId: `req ${id}` }), ...fields }, parent);
  }

  result(call: string, parent: string, text: string): Json {
    const content = [{ type: 'tool_result', tool_use_id: call, content: text }];
    return this.row('user', { message: { role: 'user', content }, toolUseResult: { stdout: text } }, parent);
  }
}

const text = (s: string): Json => ({ type: 'text', text: s });
const call = (id: string): Json => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } });

function toText(steps: readonly Step[]): string {
  const w = new Writer();
  for (const [n, step] of steps.entries()) write(w, step, n);
  return w.lines.map((line) => `${line}\n`).join('');
}

function write(w: Writer, { kind, a, b }: Step, n: number): void {
  const id = `msg${n}`;
  const uuidOf = (row: Json | undefined): string | null => (row?.['uuid'] as string | undefined) ?? null;
  switch (kind) {
    case 'prompt':
      w.prompt(`prompt ${n}`);
      break;
    case 'reply':
      w.replyRow(id, { type: 'thinking', thinking: `thought ${n}` }, 1);
      for (let i = 0; i <= a % 3; i++) w.replyRow(id, text(`answer ${n} ${i}`), 1 + ((b + i) % 50));
      break;
    case 'tools': {
      const first = w.replyRow(id, call(`c${n}a`), 1);
      if (a % 2 === 0) w.result(`c${n}a`, uuidOf(first)!, 'early');
      const second = w.replyRow(id, call(`c${n}b`), 20, {}, a % 3 === 0 ? uuidOf(first) : w.leaf);
      if (a % 2 === 1) w.result(`c${n}a`, uuidOf(first)!, 'late');
      w.result(`c${n}b`, uuidOf(second)!, 'x');
      break;
    }
    case 'late row':
      // A row of an earlier reply, after rows of others.
      w.replyRow(`msg${a % (n + 1)}`, text(`late ${n}`), b % 60);
      break;
    case 'rewind':
      w.prompt(`again ${n}`, {}, a % 5 === 0 ? null : uuidOf(w.pick(a)));
      break;
    case 'mark':
      w.write({ type: 'last-prompt', leafUuid: uuidOf(w.pick(a)), explicit: true, sessionId: MAIN });
      break;
    case 'unmark':
      w.write({ type: 'last-prompt', leafUuid: null, explicit: true, sessionId: MAIN });
      break;
    case 'duplicate': {
      const row = w.pick(a);
      if (row !== undefined) w.write(row);
      break;
    }
    case 'twin': {
      const row = w.pick(a);
      if (row !== undefined) w.write({ ...row, forkedFrom: { sessionId: uuid(9), messageUuid: row['uuid'] } });
      break;
    }
    case 'attachment':
      w.row('attachment', { attachment: { type: 'todo_reminder' } });
      break;
    case 'queued':
      w.row('attachment', { attachment: { type: 'queued_command', prompt: `queued ${n}` } });
      break;
    case 'progress':
      w.row('progress', { data: { type: 'hook_progress' } }, uuidOf(w.pick(a)));
      break;
    case 'system':
      w.row('system', { subtype: 'turn_duration' });
      break;
    case 'compaction':
      w.row('system', { subtype: 'compact_boundary', ...(a % 3 === 0 ? {} : { logicalParentUuid: w.leaf }) }, null);
      w.prompt(`summary ${n}`, { isCompactSummary: true });
      break;
    case 'aside': {
      const start = w.prompt(`aside ${n}`, { isSidechain: true }, a % 2 === 0 ? null : uuidOf(w.pick(a)));
      w.replyRow(
        b % 2 === 0 ? id : `msg${a % (n + 1)}`,
        text(`aside answer ${n}`),
        b % 40,
        { isSidechain: true, requestId: 'other' },
        uuidOf(start),
      );
      break;
    }
    case 'lost parent':
      w.prompt(`after a gap ${n}`, {}, 'ffffffff-0000-4000-8000-000000000000');
      break;
    case 'title':
      w.write({
        type: a % 2 === 0 ? 'ai-title' : 'custom-title',
        aiTitle: `ai ${n}`,
        customTitle: `own ${n}`,
        sessionId: MAIN,
      });
      break;
    case 'summary':
      w.write({ type: 'summary', summary: `summary ${n}`, leafUuid: a % 2 === 0 ? uuidOf(w.pick(b)) : 'elsewhere' });
      break;
    case 'same id':
      w.replyRow(`msg${a % (n + 1)}`, text(`other reply ${n}`), b % 50, { requestId: `other ${b % 2}` });
      break;
    case 'nameless':
      w.replyRow(null, text(`nameless ${n}`), b % 50);
      break;
    case 'damage':
      w.lines.push(a % 2 === 0 ? '{"parentUuid":"00' : '[1]');
      break;
    case 'other type':
      w.write({ type: 'mode', mode: 'normal', sessionId: MAIN });
      break;
  }
}

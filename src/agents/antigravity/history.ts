/** Prompts of conversations of which nothing else can be read. */
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { epochTime } from '../dialects/clock.ts';
import { asObject, field, nameField, parseOrUndefined } from '../dialects/json.ts';
import { eventAt, messageFields, sessionFields } from '../dialects/rows.ts';

export class HistoryDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly folders: ReadonlyMap<string, string | null>;
  private readonly seen = new Set<string>();

  constructor({ source }: DecodeContext, out: Emitter) {
    this.out = out;
    const listed = parseOrUndefined(String(source.hints['conversations'] ?? '[]'));
    this.folders = new Map(Array.isArray(listed) ? (listed as [string, string | null][]) : []);
    out.issue(
      'info',
      'prompts_only',
      'only the prompts of these conversations can be read: their own files are encrypted or gone',
    );
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    const id = row === null ? null : nameField(row, 'conversationId');
    if (row === null || id === null || !this.folders.has(id)) {
      this.out.ignored('prompt that is told elsewhere');
      return;
    }
    const text = nameField(row, 'display');
    if (text === null) return;
    this.seen.add(id);
    this.out.message(
      eventAt(id, null, 'message', frame.position(), epochTime(field(row, 'timestamp'), 'ms')),
      messageFields({ role: 'user', text, content_kinds: ['text'] }),
    );
  }

  finish(): void {
    for (const id of this.seen)
      this.out.session(
        sessionFields({ session_id: id, cwd: this.folders.get(id) ?? null, extra: { prompts_only: true } }),
      );
  }
}

/** Usage of a conversation: a row a model call. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { DecodeContext, Decoder, Emitter } from '../agent.ts';
import { asObject, field } from '../dialects/json.ts';
import { eventAt, NO_TIME, resumeCommand, sessionFields, usageObservation } from '../dialects/rows.ts';
import { countersOf, readGeneration } from './generations.ts';

export class UsageDecoder implements Decoder {
  private readonly out: Emitter;
  private readonly context: DecodeContext;
  private rows = 0;
  private readable = 0;

  constructor(context: DecodeContext, out: Emitter) {
    this.context = context;
    this.out = out;
  }

  frame(frame: Frame): void {
    const row = asObject(frame.json());
    const data = row === null ? null : field(row, 'data');
    this.rows++;
    if (!(data instanceof Uint8Array)) {
      this.out.ignored('gen_metadata without data');
      return;
    }
    const sessionId = this.context.source.name;
    const index = frame.locator!.slice('gen_metadata/'.length);
    try {
      const { model, usage } = readGeneration(Buffer.from(data));
      const counters = usage === null ? null : countersOf(usage);
      if (counters === null) return;
      this.readable++;
      this.out.usage(
        eventAt(sessionId, `call ${index}`, 'usage', frame.position(), NO_TIME),
        usageObservation({
          message_id: counters.responseId,
          model,
          input_tokens: counters.input,
          output_tokens: counters.output,
          cache_read_tokens: counters.cacheRead,
          reasoning_tokens: counters.reasoning,
          input_includes_cache_read: false,
          input_includes_cache_write: false,
          output_includes_reasoning: true,
          basis: 'native',
          key: `${sessionId} ${index}`,
        }),
      );
    } catch (error) {
      // The schema is not published: what does not decode is no damage of the store.
      if (!(error instanceof ScopedError)) throw error;
    }
  }

  finish(): void {
    if (this.rows > 0 && this.readable === 0)
      this.out.issue('warning', 'schema_moved', 'no model call of the database could be read: its usage is not known');
    const { source } = this.context;
    if (source.hints['isOnly'] !== true || this.rows === 0) return;
    const { cwd } = source.hints;
    this.out.session(
      sessionFields({
        session_id: source.name,
        cwd: typeof cwd === 'string' ? cwd : null,
        resume_command: resumeCommand('agy --conversation', source.name),
      }),
    );
  }
}

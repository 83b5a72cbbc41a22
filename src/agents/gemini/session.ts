/** What a file says of its session. */
import type { Emitter, SourceSpec } from '../agent.ts';
import { type Json, nameField, stringField } from '../dialects/json.ts';
import { resumeCommand, sessionFields } from '../dialects/rows.ts';

export class SessionFacts {
  hasHeader = false;
  private readonly source: SourceSpec;
  private sessionId: string | null = null;
  private title: string | null = null;
  private kind: string | null = null;

  private readonly resume: string | null;

  constructor(source: SourceSpec, resume: string | null = 'gemini --resume') {
    this.source = source;
    this.resume = resume;
  }

  /** The id in the file; the last one counts, since a resumed session tells it again. The name is the last resort. */
  get id(): string {
    return this.sessionId ?? this.source.name;
  }

  /** A header, or a change to it. */
  header(record: Json): void {
    const id = nameField(record, 'sessionId');
    if (id !== null) this.sessionId = id;
    this.hasHeader ||= id !== null;
    const title = stringField(record, 'summary');
    if (title !== null) this.title = title.trim() === '' ? null : title;
    this.kind = nameField(record, 'kind') ?? this.kind;
  }

  tell(out: Emitter): void {
    const { cwd, parent } = this.source.hints;
    const isSubagent = this.kind === 'subagent' || typeof parent === 'string';
    out.session(
      sessionFields({
        session_id: this.id,
        parent_session_id: isSubagent && typeof parent === 'string' ? parent : null,
        kind: isSubagent ? 'subagent' : 'main',
        title: this.title,
        cwd: typeof cwd === 'string' ? cwd : null,
        resume_command: isSubagent || this.resume === null ? null : resumeCommand(this.resume, this.id),
      }),
    );
  }
}

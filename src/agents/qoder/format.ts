/** Transcripts are those of Claude Code, but for branches, titles and counters that the writer wipes out. */
import type { DecodeContext, Decoder, Emitter, FormatCode, SessionFields, SourceSpec } from '../agent.ts';
import { claims as claudeClaims, resolve } from '../claude/copies.ts';
import { ClaudeDecoder } from '../claude/decode.ts';
import { peek } from '../claude/links.ts';
import type { ClaudeOutline } from '../claude/outline.ts';
import { Row } from '../claude/row.ts';
import { isZeroed, relabelled } from '../dialects/emitters.ts';
import { resumeCommand, textHint } from '../dialects/rows.ts';
import { spelled, spelledFrames } from './lines.ts';
import { outlineFrames } from './outline.ts';

/** Rows about the session that Claude Code has not, or that say another thing there. */
const SILENT = new Set([
  'active-leaf',
  'runtime-config',
  'session_meta',
  'summary',
  'token-stats',
  'workspace-directories',
]);
const TITLES = new Set(['ai-title', 'custom-title']);

/** Hands rows on to the decoder of Claude Code. */
class QoderDecoder implements Decoder {
  private readonly inner: ClaudeDecoder;
  private readonly out: Emitter;
  private readonly sessionId: string;
  private readonly isTask: boolean;
  private readonly row = new Row('loose');

  constructor(context: DecodeContext<ClaudeOutline>, out: Emitter, isTask: boolean) {
    this.inner = new ClaudeDecoder(context, out);
    this.out = out;
    this.sessionId = context.source.name;
    this.isTask = isTask;
  }

  frame(frame: Parameters<Decoder['frame']>[0]): void {
    const line = spelled(frame, this.isTask);
    const { row } = this;
    if (row.read(line.bytes()) && row.kind === 'other') {
      const type = row.text('type') ?? '';
      // A title that came along with copied rows is another session's.
      if (SILENT.has(type) || (TITLES.has(type) && row.isForeign('sessionId', this.sessionId))) {
        this.out.ignored(type);
        return;
      }
    }
    this.inner.frame(line);
  }

  finish(): void {
    this.inner.finish();
  }
}

export const sessionCode = (isTask: boolean): FormatCode<ClaudeOutline> =>
  relabelled<ClaudeOutline>(
    {
      peek: (frames, source) => {
        const links = peek(spelledFrames(frames, isTask), source);
        return { ...links, refs: withOrigin(links.refs, source) };
      },
      claims: (frames, source) => {
        const { outline: _, ...claims } = claudeClaims(spelledFrames(frames, isTask), source);
        return claims;
      },
      resolve,
      outline: (frames, source) => {
        const found = outlineFrames(spelledFrames(frames, isTask), source);
        const links = found.links!;
        return { ...found, links: { ...links, refs: withOrigin(links.refs, source) } };
      },
      decoder: (context, out) => new QoderDecoder(context, out, isTask),
    },
    ({ source }) => ({
      // The writer wipes the counters out unless the model is the user's own: zeros are no count.
      usage: (observation) => (isZeroed(observation) ? null : observation),
      session: (fields) => sessionOf(fields, source),
    }),
  );

/** Where the rows of a fork do not name its origin, the file beside it may. */
function withOrigin(refs: readonly string[], source: SourceSpec): readonly string[] {
  const origin = textHint(source, 'forkFrom');
  return origin === null || origin === source.name ? refs : [...new Set([...refs, origin])].sort();
}

function sessionOf(fields: SessionFields, source: SourceSpec): SessionFields {
  const own = {
    ...fields,
    title: fields.title ?? textHint(source, 'title'),
    cwd: fields.cwd ?? textHint(source, 'cwd'),
    resume_command:
      source.hints['isResumable'] === true && fields.kind !== 'subagent'
        ? resumeCommand('qodercli --resume', fields.session_id)
        : null,
  };
  if (fields.kind !== 'main') return own;
  const [origin, parent] = [textHint(source, 'forkFrom'), textHint(source, 'parentSession')];
  if (origin !== null) return { ...own, parent_session_id: origin, kind: 'fork' };
  return { ...own, parent_session_id: parent, kind: parent === null ? 'main' : 'subagent' };
}

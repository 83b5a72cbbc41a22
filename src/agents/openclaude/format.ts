/** Transcripts are those of Claude Code, but for where forks come from and what backends leave out. */
import type { FormatCode } from '../agent.ts';
import { claims } from '../claude/copies.ts';
import { sessionCode as claudeCode } from '../claude/format.ts';
import { type ClaudeOutline, outlineFrames } from '../claude/outline.ts';
import { isZeroed, relabelled } from '../dialects/emitters.ts';
import { resumeCommand } from '../dialects/rows.ts';
import { resolve } from './family.ts';
import { OriginReader, readLinks, watched, withAncestors, withOrigins } from './origin.ts';

interface Outline extends ClaudeOutline {
  /** Session that this one was branched or forked from, as the file says; null where it does not. */
  readonly origin?: string | null;
}

const SILENT: ReadonlySet<string> = new Set([
  'session-branch',
  'goal-state',
  'task-summary',
  'speculation-accept',
  'marble-origami-commit',
  'marble-origami-snapshot',
]);

const told = relabelled<Outline>(claudeCode, ({ outline }) => ({
  // A backend that reports nothing leaves zeros; so do all rows of a reply but its last.
  usage: (observation) => (isZeroed(observation) ? null : observation),
  session: (fields) => {
    const origin = outline?.origin ?? null;
    const isMain = fields.kind !== 'subagent';
    return {
      ...fields,
      parent_session_id: isMain ? (origin ?? fields.parent_session_id) : fields.parent_session_id,
      kind: isMain && origin !== null ? 'fork' : fields.kind,
      resume_command: fields.resume_command === null ? null : resumeCommand('openclaude --resume', fields.session_id),
    };
  },
  silent: SILENT,
}));

export const sessionCode: FormatCode<Outline> = {
  ...told,
  peek: readLinks,
  claims: (frames, source) => {
    const reader = new OriginReader(source);
    const { outline, ...found } = claims(watched(frames, reader), source);
    const links = outline.links === undefined ? {} : { links: withAncestors(outline.links, reader) };
    return {
      ...withOrigins(found, reader),
      outline: { outline: { ...outline.outline, origin: reader.parent }, ...links },
    };
  },
  resolve,
  outline: (frames, source) => {
    const reader = new OriginReader(source);
    const { outline, links } = outlineFrames(watched(frames, reader), source, null);
    return { outline: { ...outline, origin: reader.parent }, links: withAncestors(links, reader) };
  },
};

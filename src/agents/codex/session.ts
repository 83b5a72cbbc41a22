/** The session row of a rollout. */
import type { SessionFields, SourceSpec } from '../agent.ts';
import type { Header } from './header.ts';

/** Ids go into a command that people paste into a shell: only harmless characters do. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * How the thread is taken up again from any folder: `<command> resume <id>`, `exec resume` for exec threads, after
 * `unarchive` for archived ones. Null for subagents, which the vendor's picker does not offer.
 */
export function resumeCommand(command: string, header: Header, archived: boolean): string | null {
  if (header.kind === 'subagent' || !SAFE_ID.test(header.id)) return null;
  const resume = `${command} ${header.origin === 'exec' ? 'exec resume' : 'resume'} ${header.id}`;
  return archived ? `${command} unarchive ${header.id} && ${resume}` : resume;
}

/** A hint of the source that is a text. */
export const textHint = (source: SourceSpec, name: string): string | null => {
  const value = source.hints[name];
  return typeof value === 'string' && value.trim() !== '' ? value : null;
};

export interface SessionFacts {
  readonly header: Header;
  /** Name given by the thread's own events, where no index has one. */
  readonly threadName: string | null;
  /** From the environment message of a bare rollout. */
  readonly bareCwd: string | null;
}

export function sessionFields(source: SourceSpec, facts: SessionFacts, resume: string | null): SessionFields {
  const { header } = facts;
  return {
    session_id: header.id,
    parent_session_id: header.parentId,
    kind: header.kind,
    origin: header.origin,
    title: textHint(source, 'title') ?? facts.threadName,
    cwd: header.cwd ?? facts.bareCwd,
    git_branch: header.gitBranch,
    git_commit: header.gitCommit,
    agent_version: header.version,
    resume_command: resume,
    extra: header.extra,
  };
}

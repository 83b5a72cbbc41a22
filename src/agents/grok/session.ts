/** What is known of a session beside its journal. */
import type { SessionFields, SourceSpec } from '../agent.ts';
import { resumeCommand, sessionFields, textHint } from '../dialects/rows.ts';

export const sessionIdOf = (source: SourceSpec): string => textHint(source, 'sessionId') ?? source.name;

/** Subagents have ordinary folders, and say what they are. */
export const isSubagent = (source: SourceSpec): boolean => /^subagent/.test(textHint(source, 'kind') ?? '');

export function sessionOf(source: SourceSpec): SessionFields {
  const sessionId = sessionIdOf(source);
  const parent = textHint(source, 'parent');
  return sessionFields({
    session_id: sessionId,
    parent_session_id: parent,
    kind: isSubagent(source) ? 'subagent' : parent === null ? 'main' : 'fork',
    title: textHint(source, 'title'),
    cwd: textHint(source, 'cwd'),
    git_branch: textHint(source, 'branch'),
    resume_command: resumeCommand('grok --resume', sessionId),
  });
}

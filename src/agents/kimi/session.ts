/** What is known of a session beside its log. */
import type { SessionFields, SourceSpec } from '../agent.ts';
import { resumeCommand, sessionFields, textHint } from '../dialects/rows.ts';

export const sessionIdOf = (source: SourceSpec): string => textHint(source, 'sessionId') ?? source.name;

/** A session of its own; subagents cannot be taken up. */
export function sessionOf(
  source: SourceSpec,
  kind: 'main' | 'fork' | 'subagent',
  found: Partial<SessionFields> = {},
): SessionFields {
  const sessionId = sessionIdOf(source);
  return sessionFields({
    session_id: sessionId,
    parent_session_id: textHint(source, 'parent'),
    kind,
    title: textHint(source, 'title'),
    cwd: textHint(source, 'cwd'),
    resume_command: kind === 'subagent' ? null : resumeCommand('kimi --session', sessionId),
    ...found,
  });
}

/** Whether a version such as `1.10` is later than the last one that is known. */
export function isNewer(version: string | null, known: readonly [number, number]): boolean {
  const match = /^(\d+)(?:\.(\d+))?/.exec(version ?? '');
  if (match === null) return false;
  const [major, minor] = [Number(match[1]), Number(match[2] ?? 0)];
  return major > known[0] || (major === known[0] && minor > known[1]);
}

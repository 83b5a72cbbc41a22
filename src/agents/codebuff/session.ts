/** What is told of a chat as a whole. */
import type { DecodeContext, SessionFields } from '../agent.ts';
import { dig, parseOrUndefined } from '../dialects/json.ts';
import { resumeCommand, sessionFields } from '../dialects/rows.ts';

/** The folder in which a run took place; null where no state was saved, or it cannot be read. */
export function sessionOf({ source, sidecars }: DecodeContext): SessionFields {
  const { state } = sidecars;
  const run = state === undefined ? undefined : dig(parseOrUndefined(state.toString('utf8')), 'sessionState');
  const folders = [dig(run, 'fileContext', 'cwd'), dig(run, 'fileContext', 'projectRoot')];
  const agentType = dig(run, 'mainAgentState', 'agentType');
  // The free product is the same program: its agents' names tell.
  const isFree = typeof agentType === 'string' && agentType.includes('free');
  return sessionFields({
    session_id: source.name,
    cwd: folders.find((folder): folder is string => typeof folder === 'string' && folder !== '') ?? null,
    resume_command: resumeCommand(isFree ? 'freebuff --continue' : 'codebuff --continue', source.name),
  });
}

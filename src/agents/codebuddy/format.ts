/** How sessions are read, of CodeBuddy and of what embeds it. */
import type { FormatCode } from '../agent.ts';
import { sessionCode as claudeSessions } from '../claude/format.ts';
import type { ClaudeOutline } from '../claude/outline.ts';
import { relabelled } from '../dialects/emitters.ts';
import { resumeCommand } from '../dialects/rows.ts';
import { ItemsDecoder, type ItemsProduct } from './decode.ts';
import { type ItemsOutline, readOutline } from './outline.ts';

export const itemsCode = (product: ItemsProduct): FormatCode<ItemsOutline> => ({
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new ItemsDecoder(context, out, product),
});

/** Lines that are those of Claude Code in all but the command that takes them up again. */
export const claudeCode = ({ resume }: ItemsProduct): FormatCode<ClaudeOutline> =>
  relabelled(claudeSessions, () => ({
    session: (fields) => ({
      ...fields,
      resume_command: resume === null || fields.kind === 'subagent' ? null : resumeCommand(resume, fields.session_id),
    }),
  }));

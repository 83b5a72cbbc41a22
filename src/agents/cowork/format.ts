/** Transcripts are those of Claude Code; what the app's record knows better is taken from it. */
import type { FormatCode } from '../agent.ts';
import { sessionCode as claudeCode } from '../claude/format.ts';
import type { ClaudeOutline } from '../claude/outline.ts';
import { relabelled } from '../dialects/emitters.ts';

export const sessionCode: FormatCode<ClaudeOutline> = relabelled(claudeCode, ({ source }) => ({
  session: (fields) => {
    const text = (name: string): string | null => {
      const value = source.hints[name];
      return typeof value === 'string' ? value : null;
    };
    // The command line program does not see these sessions: they are taken up again in the app only.
    return { ...fields, title: text('title') ?? fields.title, cwd: fields.cwd ?? text('cwd'), resume_command: null };
  },
}));

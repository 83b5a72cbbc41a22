/** How the files of Copilot CLI are read. */
import type { FormatCode } from '../agent.ts';
import { EventDecoder } from './events.ts';
import { claimEvents, peekLinks, resolveForks } from './forks.ts';
import { LegacyDecoder } from './legacy.ts';
import { type LogOutline, readOutline } from './outline.ts';

export const logCode: FormatCode<LogOutline> = {
  peek: peekLinks,
  claims: claimEvents,
  resolve: resolveForks,
  outline: (frames) => ({ outline: readOutline(frames) }),
  decoder: (context, out) => new EventDecoder(context, out),
};

export const legacyCode: FormatCode = { decoder: (context, out) => new LegacyDecoder(context, out) };

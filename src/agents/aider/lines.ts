/** What the lines of a log are, by the marks that the writer leaves on them. */
import type { Frame } from '../../framing/frame.ts';

const HEADER = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/;

/** Time as written in a header line; null for other lines. */
export const headerTime = (line: string): string | null => HEADER.exec(line)?.[1] ?? null;

export interface HistoryOutline {
  /** Lines that begin a run, with whether the writer's two spaces at line ends are still there in it. */
  readonly runs: ReadonlyMap<number, { readonly isSigned: boolean }>;
}

/** The writer ends its own lines with two spaces; an editor that trims takes them away. */
export const isSigned = (line: string): boolean =>
  line.endsWith('  ') && (line.startsWith('#### ') || line.startsWith('>'));

export const textOf = (frame: Frame): string => frame.bytes().toString('utf8');

/** A header stands between empty lines; the same text in a paragraph or a fence is none. */
export function readOutline(frames: Iterable<Frame>): HistoryOutline {
  const runs = new Map<number, { isSigned: boolean }>();
  let before = '';
  let candidate: number | null = null;
  let current: { isSigned: boolean } | null = null;
  for (const frame of frames) {
    const line = textOf(frame);
    if (candidate !== null && line === '') {
      current = { isSigned: false };
      runs.set(candidate, current);
    }
    candidate = before === '' && headerTime(line) !== null ? frame.ordinal : null;
    if (current !== null && isSigned(line)) current.isSigned = true;
    before = line;
  }
  if (candidate !== null) runs.set(candidate, { isSigned: false });
  return { runs };
}

export type LineKind = 'empty' | 'user' | 'notice' | 'reply';

/** Tells the kinds of the lines of one run, one after the other. */
export class LineReader {
  private readonly isSigned: boolean;
  private before: LineKind = 'empty';
  private isFirst = true;
  /** Inside a notice of several lines, up to the line that ends in two spaces. */
  private isOpen = false;
  /** The line before was a report of tokens, which may go on on the next line. */
  private afterTokens = false;

  constructor(isSignedRun: boolean) {
    this.isSigned = isSignedRun;
  }

  kind(line: string): LineKind {
    const kind = this.decide(line);
    this.afterTokens = kind === 'notice' && TOKENS.test(line);
    this.before = kind;
    if (kind !== 'empty') this.isFirst = false;
    return kind;
  }

  private decide(line: string): LineKind {
    if (this.isOpen) {
      if (line.endsWith('  ')) this.isOpen = false;
      return 'notice';
    }
    if (line === '') return 'empty';
    if (this.afterTokens && line.startsWith('Cost: $')) return 'notice';
    return this.isSigned ? this.signed(line) : unsigned(line);
  }

  private signed(line: string): LineKind {
    const isMarked = line.startsWith('> ') || line === '>  ';
    // Blocks of users and replies begin with an empty line; notices never do.
    if (this.before === 'notice' && !isMarked) return 'notice';
    const ends = line.endsWith('  ');
    if (line.startsWith('#### ') && ends) return 'user';
    if (isMarked && (ends || TOKENS.test(line))) return 'notice';
    if (isMarked && (this.before === 'user' || this.before === 'notice' || this.isFirst)) {
      this.isOpen = true;
      return 'notice';
    }
    return 'reply';
  }
}

const TOKENS = /^> Tokens: .*received\./;

const unsigned = (line: string): LineKind =>
  line.startsWith('#### ') ? 'user' : line.startsWith('> ') || line === '>' ? 'notice' : 'reply';

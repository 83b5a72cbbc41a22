/**
 * The one place where text for people leaves the command. Paths, titles and names come from stores, and so from models
 * and from whoever wrote the files: nothing of them may move a cursor, recolour a screen, forge a line or turn the
 * reading direction. Rows and JSON are for programs and do not pass here.
 */
import { styleText } from 'node:util';

/** A line for people. `style` shows on a terminal only. */
export type Line = string | { readonly text: string; readonly style: 'red' | 'yellow' | 'bold' };

/** Controls (C0, DEL, C1), lone surrogates, line and paragraph separators, and what turns the reading direction. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  return (
    named[character] ??
    (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`)
  );
}

/** Text in which every character that could do more than be read is written out, like `\x1b` or `\n`. */
export const visible = (text: string): string => text.replace(UNSAFE, escaped);

function write(stream: NodeJS.WriteStream, lines: readonly Line[]): void {
  let text = '';
  for (const line of lines) {
    text += typeof line === 'string' ? visible(line) : styleText(line.style, visible(line.text), { stream });
    text += '\n';
  }
  if (text !== '') stream.write(text);
}

/** Writes lines for people to standard error: messages, summaries, what was passed by. */
export const tell = (...lines: readonly Line[]): void => write(process.stderr, lines);

/** Writes lines for people to standard output: the tables of commands that were not asked for JSON. */
export const show = (...lines: readonly Line[]): void => write(process.stdout, lines);

/** JSON on standard output, one value a line: for programs, and as it is. */
export const printJson = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

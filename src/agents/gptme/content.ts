/** What a reply's text holds: thoughts in tags, and calls of tools written out. */
import { joinTexts } from '../dialects/json.ts';

export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  /** As written: JSON, or a Python dict. */
  readonly arguments: string;
}

const THOUGHT = /<(think|thinking)>([\s\S]*?)<\/\1>/g;
/** The end of a thought that came signed (writer). */
const SIGNATURE = /<!--\s*think-sig:[\s\S]*?-->/g;

/** Takes the thoughts out of a reply. */
export function splitThoughts(content: string): { readonly text: string | null; readonly thinking: string | null } {
  const thoughts: string[] = [];
  const rest = content.replace(THOUGHT, (_, _tag: string, thought: string) => {
    thoughts.push(thought.replace(SIGNATURE, '').trim());
    return '';
  });
  return { text: rest.trim() || null, thinking: joinTexts(thoughts) };
}

const CALL = /^@([\p{L}\p{N}_.]+)\(([\p{L}\p{N}_.:-]+)\):\s*/u;

/** Calls at the beginning of lines, outside fenced code; one whose object does not end is none. */
export function writtenCalls(text: string): WrittenCall[] {
  const calls: WrittenCall[] = [];
  let fence: string | null = null;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end);
    const mark = /^\s*(`{3,}|~{3,})(.*)$/.exec(line);
    if (mark !== null) {
      if (fence === null) fence = mark[1]!;
      else if (mark[1]!.startsWith(fence) && mark[2]!.trim() === '') fence = null;
    } else if (fence === null && line.startsWith('@')) {
      const head = CALL.exec(text.slice(at));
      const from = at + (head?.[0].length ?? 0);
      const to = head === null ? null : endOfObject(text, from);
      if (head !== null && to !== null) {
        calls.push({ id: head[2]!, name: head[1]!, arguments: text.slice(from, to) });
        const next = text.indexOf('\n', to);
        at = next === -1 ? text.length : next + 1;
        continue;
      }
    }
    at = end + 1;
  }
  return calls;
}

/** Where the object that begins at `from` ends; null where none does. */
function endOfObject(text: string, from: number): number | null {
  if (text[from] !== '{') return null;
  let depth = 0;
  let quote: string | null = null;
  for (let at = from; at < text.length; at++) {
    const letter = text[at]!;
    if (quote !== null) {
      if (letter === '\\') at++;
      else if (letter === quote) quote = null;
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === '{') depth++;
    else if (letter === '}' && --depth === 0) return at + 1;
  }
  return null;
}

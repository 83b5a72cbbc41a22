/** Text of prompts, without what the program puts around and before it. */

const QUERY = /<user_query>([\s\S]*?)<\/user_query>/g;
/** Stands for reasoning that is hidden. */
const REDACTED = '[REDACTED]';

export interface Prompt {
  readonly text: string | null;
  readonly isMeta: boolean;
}

/** What was typed, where the text says so; a text of nothing but tags was injected. */
export function readPrompt(text: string): Prompt {
  const queries = [...text.matchAll(QUERY)].map((match) => match[1]!.trim());
  if (queries.length > 0) return { text: queries.join('\n') || null, isMeta: false };
  const trimmed = text.trim();
  return { text: trimmed === '' ? null : trimmed, isMeta: /^<[a-z_]+>/.test(trimmed) && /<\/[a-z_]+>$/.test(trimmed) };
}

/** A reply without the mark of hidden reasoning; null where nothing else is left. */
export function withoutMark(text: string | null): string | null {
  if (text === null) return null;
  const trimmed = text.trim();
  if (trimmed === REDACTED || trimmed === '') return null;
  return trimmed.endsWith(`\n${REDACTED}`) ? trimmed.slice(0, -REDACTED.length).trimEnd() : text;
}

/** What a message says, as all layouts spell it. */
import { asObject, joinTexts, stringField } from '../dialects/json.ts';

/** The text of a message: a string, or the text blocks of a list, each trimmed; null for a blank one. */
export function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content.trim() || null;
  if (!Array.isArray(content)) return null;
  return joinTexts(
    content.map((value) => {
      const block = asObject(value);
      if (block === null) return typeof value === 'string' ? value.trim() : null;
      return stringField(block, 'type') === 'text' ? (stringField(block, 'text')?.trim() ?? null) : null;
    }),
  );
}

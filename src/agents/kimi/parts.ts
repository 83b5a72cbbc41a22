/** Content of messages, as both programs spell it: a text, or parts. */
import { asObject, joinTexts, stringField } from '../dialects/json.ts';

export interface Parts {
  readonly text: string | null;
  readonly thinking: string | null;
  /** Kinds of the parts, each once. */
  readonly kinds: readonly string[];
}

const KINDS: Readonly<Record<string, string>> = {
  text: 'text',
  think: 'thinking',
  image_url: 'image',
  audio_url: 'audio',
  video_url: 'video',
};

export const partKind = (type: string | null): string | null => (type === null ? null : (KINDS[type] ?? null));

/** `unknown` is told types of parts that are not known. */
export function readParts(content: unknown, unknown: (type: string) => void): Parts {
  const list = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];
  const texts: (string | null)[] = [];
  const thoughts: (string | null)[] = [];
  const kinds = new Set<string>();
  for (const value of list) {
    const part = asObject(value);
    if (part === null) continue;
    const type = stringField(part, 'type');
    const kind = partKind(type);
    if (kind === null) unknown(`content/${type ?? '(no type)'}`);
    else kinds.add(kind);
    if (kind === 'text') texts.push(stringField(part, 'text'));
    else if (kind === 'thinking') thoughts.push(stringField(part, 'think'));
  }
  return { text: said(joinTexts(texts)), thinking: said(joinTexts(thoughts)), kinds: [...kinds] };
}

/** White space alone says nothing. */
export const said = (text: string | null): string | null => (text?.trim() ? text : null);

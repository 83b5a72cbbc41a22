/** Settings of a conversation: texts in one section of a TOML file. */
import { parseOrUndefined } from '../dialects/json.ts';

/** The texts in section `[chat]`, by key; what is no text on one line is left out. */
export function readChatSettings(toml: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let isChat = false;
  for (const line of toml.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) isChat = section.trim() === 'chat';
    const entry = /^\s*([A-Za-z0-9_-]+)\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*')\s*(?:#.*)?$/.exec(line);
    if (!isChat || entry === null) continue;
    const [, key, quoted] = entry;
    const text = quoted!.startsWith("'") ? quoted!.slice(1, -1) : unescaped(quoted!);
    if (typeof text === 'string') found.set(key!, text);
  }
  return found;
}

/** A quoted text, whose escapes are those of JSON but for two. */
const unescaped = (quoted: string): unknown =>
  parseOrUndefined(
    quoted.replace(/\\(\\|U[0-9A-Fa-f]{8}|e)/g, (written, named: string) => {
      if (named === '\\') return written;
      const code = named === 'e' ? 0x1b : Number.parseInt(named.slice(1), 16);
      return code > 0x10ffff ? '' : JSON.stringify(String.fromCodePoint(code)).slice(1, -1);
    }),
  );

/**
 * Top-level `key: value` lines of a YAML file that a program wrote as flat as that: plain and quoted scalars. Nested
 * values, lists and multi-line texts are left out, never half read.
 */
export function plainYaml(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^([A-Za-z_][\w-]*):[ \t]+(\S.*?)[ \t]*$/.exec(line);
    if (match === null) continue;
    const value = scalar(match[2]!);
    if (value !== null) values[match[1]!] = value;
  }
  return values;
}

function scalar(raw: string): string | null {
  if (raw.startsWith('"')) {
    try {
      // A double-quoted YAML scalar of such writers is a JSON string.
      const value: unknown = JSON.parse(raw);
      return typeof value === 'string' ? value : null;
    } catch {
      return null;
    }
  }
  if (raw.startsWith("'")) return raw.endsWith("'") && raw.length > 1 ? raw.slice(1, -1).replaceAll("''", "'") : null;
  if (/^[[{|>&*!%@`]/.test(raw) || raw === 'null' || raw === '~') return null;
  return raw.replace(/[ \t]+#.*$/, '');
}

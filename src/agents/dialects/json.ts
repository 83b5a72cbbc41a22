/**
 * Typed looks into parsed JSON. Only own properties are looked at, so that a `__proto__` or `constructor` key in a
 * transcript stays a key like any other. What has the wrong type counts as absent; where that loses something the
 * tables carry, the decoder says so (see `counters.ts`).
 */
export type Json = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;

export const field = (object: Json, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);

export const objectField = (object: Json, key: string): Json | null => asObject(field(object, key));

/** An array, or an empty one. */
export const listField = (object: Json, key: string): readonly unknown[] => {
  const value = field(object, key);
  return Array.isArray(value) ? value : [];
};

/** The objects in an array; an empty list where there is no array. */
export const objectsField = (object: Json, key: string): readonly Json[] =>
  listField(object, key)
    .map(asObject)
    .filter((value) => value !== null);

export const stringField = (object: Json, key: string): string | null => {
  const value = field(object, key);
  return typeof value === 'string' ? value : null;
};

/** A string that is more than white space: ids and names are never blank. */
export const nameField = (object: Json, key: string): string | null => {
  const value = stringField(object, key);
  return value === null || value.trim() === '' ? null : value;
};

export const numberField = (object: Json, key: string): number | null => {
  const value = field(object, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

export const boolField = (object: Json, key: string): boolean | null => {
  const value = field(object, key);
  return typeof value === 'boolean' ? value : null;
};

/**
 * The entry of a table of ours under a key out of a store; undefined where there is none. A plain look would find
 * `constructor` and its like in every table.
 */
export const ownEntry = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Follows keys down; undefined where one is missing. */
export function dig(value: unknown, ...keys: readonly string[]): unknown {
  let at = value;
  for (const key of keys) {
    const object = asObject(at);
    if (object === null) return undefined;
    at = field(object, key);
  }
  return at;
}

/** The tables hold null where there is nothing. */
export const textOrNull = (text: string | null): string | null => (text === '' ? null : text);

/** Texts joined by a line feed, empty ones left out; null where there is none. */
export function joinTexts(texts: Iterable<string | null>): string | null {
  const kept: string[] = [];
  for (const text of texts) if (text !== null && text !== '') kept.push(text);
  return kept.length === 0 ? null : kept.join('\n');
}

/** A value as JSON text, as the columns `arguments` and `output_json` hold it: a string as it is, null for nothing. */
export const jsonText = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);

/** The JSON value in a text; undefined where it does not parse. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Typed looks into parsed JSON. Only own properties are looked at, so that a `__proto__` key in a transcript stays a
 * key like any other; what has the wrong type counts as absent.
 */
export type Json = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;

export const field = (object: Json, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);

export const objectField = (object: Json, key: string): Json | null => asObject(field(object, key));

export const stringField = (object: Json, key: string): string | null => {
  const value = field(object, key);
  return typeof value === 'string' ? value : null;
};

export const numberField = (object: Json, key: string): number | null => {
  const value = field(object, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** A blank id or name identifies nothing. */
export const idOrNull = (text: string | null): string | null => (text === null || text.trim() === '' ? null : text);

/** The tables hold null where there is nothing. */
export const textOrNull = (text: string | null): string | null => (text === '' ? null : text);

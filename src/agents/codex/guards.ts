/**
 * Typed looks into parsed JSON. Only own properties are looked at, so that a `__proto__` or `constructor` key in a
 * transcript stays a key like any other; what has the wrong type counts as absent.
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

/** A count that may be written as a number or in digits; null for anything else. */
export const countField = (object: Json, key: string): number | null => {
  const value = field(object, key);
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
};

/** Null for an empty text: the tables hold null where there is nothing. */
export const textOrNull = (text: string): string | null => (text === '' ? null : text);

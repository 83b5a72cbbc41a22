/** Typed looks into parsed JSON, under the names that the decoder uses. */
export { asObject, field, type Json, numberField, objectField, stringField, textOrNull } from '../dialects/json.ts';

/** A blank id or name identifies nothing. */
export const idOrNull = (text: string | null): string | null => (text === null || text.trim() === '' ? null : text);

/** Typed looks into parsed JSON, under the names that the decoder uses. */
import { field, type Json } from '../dialects/json.ts';

export {
  asObject,
  field,
  type Json,
  listField,
  nameField,
  numberField,
  objectField,
  stringField,
  textOrNull,
} from '../dialects/json.ts';

/** A count that may be written as a number or in digits; null for anything else. */
export const countField = (object: Json, key: string): number | null => {
  const value = field(object, key);
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
};

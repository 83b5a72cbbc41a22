/** Parts of a message. */
import { type Json, listField, nameField, objectsField, stringField } from '../dialects/json.ts';

export const isHeader = (record: Json): boolean =>
  stringField(record, 'role') === null && nameField(record, 'id') !== null;

export const partsOf = (message: Json, type: string): Json[] =>
  objectsField(message, 'content').filter((part) => stringField(part, 'type') === type);

/** Texts in the answers of tools. */
export const resultTexts = (record: Json): string[] =>
  stringField(record, 'role') !== 'tool' || listField(record, 'content').length === 0
    ? []
    : partsOf(record, 'tool-result')
        .flatMap((result) => objectsField(result, 'content'))
        .map((part) => stringField(part, 'text'))
        .filter((text) => text !== null);

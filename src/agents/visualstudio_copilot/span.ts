/** Spans in the exports of OpenTelemetry that a trace is made of. */

import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import { epochTime } from '../dialects/clock.ts';
import { asObject, field, type Json, nameField, objectField, objectsField, stringField } from '../dialects/json.ts';
import type { Time } from '../dialects/rows.ts';

export interface Span {
  /** Of the trace and the span; null where there is neither. */
  readonly id: string | null;
  readonly name: string;
  readonly operation: string | null;
  readonly conversation: string | null;
  readonly start: Time;
  readonly end: Time;
  readonly attributes: Json;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Spans of a line; `note` is told how many of its values are no export. Throws as the frame does. */
export function spansOf(frame: Frame, note: () => void): Span[] {
  return valuesIn(frame).flatMap((value) => {
    const record = asObject(value);
    if (record === null || !Array.isArray(field(record, 'resourceSpans'))) {
      note();
      return [];
    }
    return objectsField(record, 'resourceSpans')
      .flatMap((resource) => objectsField(resource, 'scopeSpans'))
      .flatMap((scope) => objectsField(scope, 'spans'))
      .map(readSpan);
  });
}

function readSpan(span: Json): Span {
  const attributes = Object.fromEntries(
    objectsField(span, 'attributes').flatMap((entry) => {
      const key = nameField(entry, 'key');
      const value = objectField(entry, 'value');
      return key === null || value === null ? [] : [[key, plainValue(value)] as const];
    }),
  );
  const [trace, id] = [nameField(span, 'traceId'), nameField(span, 'spanId')];
  const conversation = nameField(attributes, 'gen_ai.conversation.id');
  return {
    id: trace === null && id === null ? null : `${trace ?? ''} ${id ?? ''}`,
    name: stringField(span, 'name') ?? '',
    operation: nameField(attributes, 'gen_ai.operation.name'),
    conversation: conversation !== null && ID.test(conversation) ? conversation.toLowerCase() : conversation,
    start: nanoTime(field(span, 'startTimeUnixNano')),
    end: nanoTime(field(span, 'endTimeUnixNano')),
    attributes,
  };
}

/** Whole numbers are written as texts. */
function plainValue(value: Json): unknown {
  const whole = field(value, 'intValue');
  if (typeof whole === 'string' && /^-?\d+$/.test(whole)) return Number(whole);
  return whole ?? field(value, 'stringValue') ?? field(value, 'boolValue') ?? field(value, 'doubleValue');
}

function nanoTime(value: unknown): Time {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  const { timestamp } = epochTime(number, 'ns');
  return { timestamp, timestampText: timestamp === null ? null : String(value) };
}

/** Values may stand on a line one after the other. */
function valuesIn(frame: Frame): unknown[] {
  try {
    return [frame.json()];
  } catch (error) {
    if (!(error instanceof ScopedError) || error.code !== 'malformed_json') throw error;
    const values = concatenated(frame.bytes().toString('utf8'));
    if (values === null) throw error;
    return values;
  }
}

/** The objects in a text; null where it is not made of objects alone. */
function concatenated(text: string): unknown[] | null {
  const values: unknown[] = [];
  let depth = 0;
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (isQuoted) {
      if (letter === '\\') at++;
      else if (letter === '"') isQuoted = false;
    } else if (letter === '"') isQuoted = true;
    else if (letter === '{') depth++;
    else if (letter === '}' && --depth === 0) {
      try {
        values.push(JSON.parse(text.slice(from, at + 1)));
      } catch {
        return null;
      }
      from = at + 1;
    }
  }
  return text.slice(from).trim() === '' ? values : null;
}

/** One line of a rollout, in whatever era it was written. */
import { asObject, countField, field, type Json, nameField, stringField } from './guards.ts';
import { ENVELOPE_TYPES } from './types.ts';

export interface RolloutLine {
  /**
   * `session_meta`, `turn_context`, `response_item`, `event_msg` … A bare item of 2025 is a `response_item`, a bare first
   * line a `session_meta`, a `{"record_type":…}` marker a `record_type`.
   */
  readonly type: string;
  readonly payload: Json;
  /** `payload.type`; for a marker its kind. */
  readonly payloadType: string | null;
  /** Under which the line is counted where it carries no rows. */
  readonly name: string;
  /** Written only where history_mode is paginated. */
  readonly ordinal: number | null;
  readonly timestampText: string | null;
  /** Era before September 2025: no envelope, no time. */
  readonly bare: boolean;
}

/** Why a parsed record is no line. */
export type BadLine = 'not_an_object' | 'no_payload';

const nameOf = (type: string, payloadType: string | null): string =>
  payloadType === null ? type : `${type}/${payloadType}`;

const bareLine = (type: string, payload: Json, payloadType: string | null): RolloutLine => ({
  type,
  payload,
  payloadType,
  name: nameOf(type, payloadType),
  ordinal: null,
  timestampText: stringField(payload, 'timestamp'),
  bare: true,
});

/** A line without envelope: header, item or marker of the CLIs up to September 2025. */
function readBare(record: Json): RolloutLine {
  const type = nameField(record, 'type');
  if (type !== null) return bareLine('response_item', record, type);
  const marker = nameField(record, 'record_type');
  if (marker !== null) return bareLine('record_type', record, marker);
  if (stringField(record, 'role') !== null && field(record, 'content') !== undefined)
    return bareLine('response_item', record, 'message');
  const isHeader = stringField(record, 'id') !== null && field(record, 'timestamp') !== undefined;
  return bareLine(isHeader ? 'session_meta' : 'untyped', record, null);
}

/** Tells what a parsed record is. */
export function readLine(value: unknown): RolloutLine | BadLine {
  const record = asObject(value);
  if (record === null) return 'not_an_object';
  const type = nameField(record, 'type');
  const isEnvelope = type !== null && ENVELOPE_TYPES.has(type);
  if (!Object.hasOwn(record, 'payload')) return isEnvelope ? 'no_payload' : readBare(record);
  const payload = asObject(field(record, 'payload'));
  if (payload === null && isEnvelope) return 'no_payload';
  const payloadType = type === 'response_item' || type === 'event_msg' ? nameField(payload ?? {}, 'type') : null;
  const isUntyped = type === 'response_item' || type === 'event_msg' ? payloadType === null : false;
  return {
    type: type ?? 'untyped',
    payload: payload ?? {},
    payloadType,
    name: nameOf(type ?? 'untyped', isUntyped ? 'untyped' : payloadType),
    ordinal: countField(record, 'ordinal'),
    timestampText: stringField(record, 'timestamp'),
    bare: false,
  };
}

/** The id of the turn that a line opens or describes; null for all other lines. */
export function turnIdOf(line: RolloutLine): string | null {
  return line.type === 'turn_context' || opensTurn(line) ? nameField(line.payload, 'turn_id') : null;
}

/** `task_started`, or its newer name. */
export const opensTurn = (line: RolloutLine): boolean =>
  line.type === 'event_msg' && (line.payloadType === 'task_started' || line.payloadType === 'turn_started');

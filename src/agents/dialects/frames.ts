/** What frames hold, for those who only look. */
import { ScopedError } from '../../framing/errors.ts';
import type { Frame } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { asObject, type Json } from './json.ts';

/** The object in a frame; null for what is none, or damaged (the decoder says so). */
export function objectOf(frame: Frame): Json | null {
  try {
    return asObject(frame.json());
  } catch (error) {
    if (error instanceof ScopedError && error.scope === 'record') return null;
    throw error;
  }
}

/** The object in a frame; null, and a damaged record, for what is none. Throws a record-scoped error. */
export function objectOrReport(frame: Frame, out: Emitter): Json | null {
  const record = asObject(frame.json());
  if (record === null) out.badRecord(frame.position(), 'wrong_type', 'the record is no object');
  return record;
}

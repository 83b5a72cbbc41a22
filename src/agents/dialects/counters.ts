/** Usage counters out of parsed JSON or rows: absent is null, and what is no number is never taken for one. */
import type { Position } from '../../framing/frame.ts';
import type { Emitter } from '../agent.ts';
import { field, type Json } from './json.ts';

const typeName = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value);

/**
 * Reads counters of one record. One that is neither a number nor absent is null, and is reported once with its name:
 * the record counts as damaged, its other rows are still told. Fractions and negative numbers pass: the ledger says
 * what is wrong with them.
 */
export class CounterReader {
  private isReported = false;
  private readonly out: Emitter;
  private readonly position: Position;

  constructor(out: Emitter, position: Position) {
    this.out = out;
    this.position = position;
  }

  /** The counter under `key`; null where `object` is null, or the key absent or null. */
  read(object: Json | null, key: string): number | null {
    const value = object === null ? undefined : field(object, key);
    if (value === undefined || value === null) return null;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (!this.isReported) {
      this.isReported = true;
      this.out.badRecord(this.position, 'wrong_type', `the counter ${key} is a ${typeName(value)}, not a number`);
    }
    return null;
  }
}

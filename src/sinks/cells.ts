/**
 * Checks of single cells, the same in every sink: a value that a column cannot hold is an error that names table and
 * column, never a silently changed value. Messages never hold text of a store.
 */
import type { Column, TableName } from '../records/tables.ts';

/** A value that its column cannot hold. The sink has taken nothing of the row and can go on. */
export class CellError extends Error {
  readonly table: TableName;
  readonly column: string;

  constructor(table: TableName, column: string, problem: string) {
    super(`${table}.${column}: ${problem}`);
    this.name = 'CellError';
    this.table = table;
    this.column = column;
  }
}

/** Years 1 to 9999: what every reader of ISO-8601 and of TIMESTAMP takes. */
const FIRST_MILLIS = -62_135_596_800_000;
const LAST_MILLIS = 253_402_300_799_999;

/** What a value is, without its contents. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Uint8Array) return 'bytes';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Checks for one column; made once a sink, used for every cell. */
export class CellChecks {
  readonly table: TableName;
  readonly column: Column;

  constructor(table: TableName, column: Column) {
    this.table = table;
    this.column = column;
  }

  error(value: unknown, wanted: string): CellError {
    const problem =
      value === null || value === undefined
        ? 'null in a column that is never null'
        : `${wanted} expected, got ${describe(value)}`;
    return new CellError(this.table, this.column.name, problem);
  }

  /** Throws where the column is never null. */
  requireNullable(): void {
    if (!this.column.nullable) throw this.error(null, '');
  }

  int(value: unknown): number {
    if (Number.isSafeInteger(value)) return value as number;
    throw this.error(value, 'a safe integer');
  }

  /** Finite: neither JSON nor a sum has use for NaN or Infinity. -0 becomes 0. */
  float(value: unknown): number {
    if (Number.isFinite(value)) return (value as number) + 0;
    throw this.error(value, 'a finite number');
  }

  bool(value: unknown): boolean {
    if (typeof value === 'boolean') return value;
    throw this.error(value, 'a boolean');
  }

  /** Milliseconds since 1970 UTC, fractions allowed. */
  millis(value: unknown): number {
    if (typeof value === 'number' && value >= FIRST_MILLIS && value <= LAST_MILLIS) return value;
    throw this.error(value, 'milliseconds since 1970 within the years 1 to 9999');
  }

  text(value: unknown): string | Uint8Array {
    if (typeof value === 'string' || value instanceof Uint8Array) return value;
    throw this.error(value, 'text');
  }

  bytes(value: unknown): Uint8Array {
    if (value instanceof Uint8Array) return value;
    throw this.error(value, 'bytes');
  }

  list(value: unknown): readonly string[] {
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw this.error(value, 'a list of strings');
  }
}

/** Whole microseconds of a time in milliseconds, exact also beyond 2^53 microseconds (the year 2255). */
export function microsOf(millis: number): number | bigint {
  const micros = Math.round(millis * 1000);
  if (Number.isSafeInteger(micros)) return micros;
  const whole = Math.floor(millis);
  return BigInt(whole) * 1000n + BigInt(Math.round((millis - whole) * 1000));
}

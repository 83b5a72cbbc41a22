/** Native spellings of time. */

/**
 * Milliseconds since 1970 UTC of an ISO-8601 text with date, time and zone (or `Z`); null for anything else, so that
 * nothing is guessed. Fractions beyond milliseconds are kept down to the microsecond.
 */
export function parseIsoTime(text: unknown): number | null {
  if (typeof text !== 'string' || text.length < 20 || text.length > 40) return null;
  return (text.length === 24 ? parseCanonical(text) : null) ?? parseAny(text);
}

function parseAny(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const millis = Date.parse(text.replace(',', '.').replace(' ', 'T'));
  if (Number.isNaN(millis)) return null;
  const fraction = /[.,](\d+)/.exec(text)?.[1] ?? '';
  const micros = fraction.length > 3 ? Number(fraction.slice(3, 6).padEnd(3, '0')) : 0;
  return millis + micros / 1000;
}

/** The spelling of `Date.toISOString`, which is nearly every one; null where it is another or needs the full check. */
function parseCanonical(text: string): number | null {
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  const millis = digits(text, 20, 3);
  const plain =
    text[23] === 'Z' &&
    text[4] === '-' &&
    text[7] === '-' &&
    text[10] === 'T' &&
    text[13] === ':' &&
    text[16] === ':' &&
    text[19] === '.' &&
    // The end of a month and odd values are left to the full check.
    year >= 1970 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 28 &&
    hour >= 0 &&
    hour < 24 &&
    minute >= 0 &&
    minute < 60 &&
    second >= 0 &&
    second < 60 &&
    millis >= 0;
  return plain ? Date.UTC(year, month - 1, day, hour, minute, second, millis) : null;
}

/** The number in `length` decimal digits; NaN where they are none. */
const digits = (text: string, from: number, length: number): number => {
  let value = 0;
  for (let i = from; i < from + length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
};

/** The largest time a Date can hold. */
const MAX_MILLIS = 8.64e15;

/** A time in the unit that the store's sheet names; null for what is no positive number. Never guessed from size. */
export function epochTime(
  value: unknown,
  unit: 's' | 'ms' | 'us' | 'ns',
): { timestamp: number | null; timestampText: string | null } {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0)
    return { timestamp: null, timestampText: null };
  const factor = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 }[unit];
  // Microseconds are kept: that is what the tables hold.
  const millis = Math.round(number * factor * 1000) / 1000;
  return { timestamp: millis <= MAX_MILLIS ? millis : null, timestampText: String(value) };
}

/** An ISO-8601 text with a zone; its spelling is kept even where it is no instant. */
export const isoTime = (value: unknown): { timestamp: number | null; timestampText: string | null } => ({
  timestamp: parseIsoTime(value),
  timestampText: typeof value === 'string' && value !== '' ? value : null,
});

/** `YYYY-MM-DD HH:MM:SS[.fff]` that is known to be UTC, as SQLite's CURRENT_TIMESTAMP writes it. */
export function utcTime(value: unknown): { timestamp: number | null; timestampText: string | null } {
  if (typeof value !== 'string') return { timestamp: null, timestampText: null };
  const timestamp = /[Zz]$|[+-]\d\d:?\d\d$/.test(value) ? parseIsoTime(value) : parseIsoTime(`${value}Z`);
  return { timestamp, timestampText: value === '' ? null : value };
}

/**
 * An ISO-8601 text; without a zone it is a wall clock of the machine that wrote it, which is taken to be in this
 * process's zone: the store says no more.
 */
export function localTime(value: unknown): { timestamp: number | null; timestampText: string | null } {
  if (typeof value !== 'string') return { timestamp: null, timestampText: null };
  const naive = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/.exec(value);
  if (naive === null) return isoTime(value);
  const fraction = (naive[3] ?? '').padEnd(6, '0');
  const millis = Date.parse(`${naive[1]}T${naive[2]}.${fraction.slice(0, 3)}`);
  const timestamp = Number.isNaN(millis) ? null : millis + Number(fraction.slice(3, 6)) / 1000;
  return { timestamp, timestampText: value };
}

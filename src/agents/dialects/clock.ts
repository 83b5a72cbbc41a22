/** Native spellings of time. */

/**
 * Milliseconds since 1970 UTC of an ISO-8601 text with date, time and zone (or `Z`); null for anything else, so that
 * nothing is guessed. Fractions beyond milliseconds are kept down to the microsecond.
 */
export function parseIsoTime(text: unknown): number | null {
  if (typeof text !== 'string' || text.length < 20 || text.length > 40) return null;
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const millis = Date.parse(text.replace(',', '.').replace(' ', 'T'));
  if (Number.isNaN(millis)) return null;
  const fraction = /[.,](\d+)/.exec(text)?.[1] ?? '';
  const micros = fraction.length > 3 ? Number(fraction.slice(3, 6).padEnd(3, '0')) : 0;
  return millis + micros / 1000;
}

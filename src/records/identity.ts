/** Stable identities: of events, of sources, and short hashes for sets of record ids. */
import { hash } from 'node:crypto';

/** Separates parts; cannot occur in ids that matter, and a clash would need a crafted id in the same session. */
const SEPARATOR = '\u0000';

const shortHash = (text: string): string => hash('sha256', text, 'hex').slice(0, 32);

/** `source_id`: SHA-256 over host, agent and source identity, first 128 bits, in hex. */
export const sourceId = (host: string, agent: string, identity: string): string =>
  shortHash([host, agent, identity].join(SEPARATOR));

/** `event_id` of a record with a native id: the same on every re-read, after a move and on every host. */
export const eventId = (agent: string, sessionId: string, nativeId: string, slot: string): string =>
  shortHash(`${agent}${SEPARATOR}${sessionId}${SEPARATOR}n${nativeId}${SEPARATOR}${slot}`);

/** `event_id` of a record without a native id: named by its source (without host) and ordinal. */
export const positionalEventId = (
  agent: string,
  sessionId: string,
  sourceName: string,
  ordinal: number,
  slot: string,
): string =>
  shortHash(`${agent}${SEPARATOR}${sessionId}${SEPARATOR}o${sourceName}${SEPARATOR}${ordinal}${SEPARATOR}${slot}`);

/**
 * A 53-bit hash of a short id, exact in a double, for large sets of record ids in typed arrays. Not for identities that
 * leave the process.
 */
export function hash53(text: string): number {
  let low = 0x9e3779b9;
  let high = 0x85ebca6b;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x85ebca77);
    high = Math.imul(high ^ code, 0xc2b2ae3d);
  }
  low = Math.imul(low ^ (low >>> 16), 0x7feb352d) ^ Math.imul(high ^ (high >>> 13), 0x846ca68b);
  high = Math.imul(high ^ (high >>> 16), 0x7feb352d) ^ Math.imul(low ^ (low >>> 13), 0x846ca68b);
  return (high >>> 11) * 4294967296 + (low >>> 0);
}

/** What has changed since the cursor was last moved, and how each changed source is to be read. */
import { hash } from 'node:crypto';
import type { Cursor, Fingerprint, KnownSource } from '../cursor/cursor.ts';
import type { FoundSource } from '../discovery/discovery.ts';
import type { FileStat } from '../framing/byte-source.ts';

/** A file written this shortly before it was looked at may be written again without its times showing it. */
const RACY_MS = 100;

/** The fingerprint a source has now, by what discovery saw; `stat` as the read itself saw it is better where there is one. */
export function fingerprintOf(source: FoundSource, stat: FileStat | null, readAt: number | null): Fingerprint {
  const { path, hints, member, state } = source.spec;
  if (state !== undefined) {
    // What the definition says tells all: of a database, the file's times tell nothing about one session in it.
    const told = [path, hints, member ?? null, state];
    return {
      size: null,
      mtimeMs: null,
      ctimeMs: null,
      inode: null,
      sidecars: source.sidecarState,
      hints: hash('sha1', JSON.stringify(told)),
    };
  }
  const { size, mtimeMs, ctimeMs, inode } = stat ?? source;
  const racy = readAt !== null && ctimeMs !== null && readAt - ctimeMs < RACY_MS;
  return {
    size,
    mtimeMs,
    // A time that proves nothing matches nothing: the source is looked into again next time.
    ctimeMs: racy ? -1 : ctimeMs,
    inode,
    sidecars: source.sidecarState,
    hints: hash('sha1', JSON.stringify([path, hints])),
  };
}

const sameFingerprint = (a: Fingerprint, b: Fingerprint): boolean =>
  a.size === b.size &&
  a.mtimeMs === b.mtimeMs &&
  a.ctimeMs === b.ctimeMs &&
  a.inode === b.inode &&
  a.sidecars === b.sidecars &&
  a.hints === b.hints;

/** How a source is to be read. */
export type Change =
  /** Never seen, or never committed. */
  | 'new'
  /** Its bytes changed: it may be read on, if its format can. */
  | 'grown'
  /** Something beside its bytes changed (sidecar, title, place, relatives): it is read whole. */
  | 'context'
  /** A newer decoder: it is read whole, under the next generation. */
  | 'decoder';

export function changeOf(source: FoundSource, known: KnownSource | undefined): Change | null {
  if (known === undefined) return 'new';
  const version = source.agent.formats[source.spec.storeKind]?.decoderVersion ?? 0;
  if (known.decoderVersion !== version || known.spec.storeKind !== source.spec.storeKind) return 'decoder';
  const now = fingerprintOf(source, null, null);
  if (sameFingerprint(known.fingerprint, now)) return null;
  const sameContext = known.fingerprint.sidecars === now.sidecars && known.fingerprint.hints === now.hints;
  return sameContext ? 'grown' : 'context';
}

export interface PlannedChange {
  readonly found: FoundSource;
  readonly known: KnownSource | undefined;
  readonly change: Change;
}

/** Sources to be read, in the order of discovery. */
export function changedSources(
  sources: readonly FoundSource[],
  known: ReadonlyMap<string, KnownSource>,
): PlannedChange[] {
  const changed: PlannedChange[] = [];
  for (const found of sources) {
    const before = known.get(found.sourceId);
    const change = changeOf(found, before);
    if (change !== null) changed.push({ found, known: before, change });
  }
  return changed;
}

/** What shapes the rows of a lake: it must stay the same from run to run, or old and new rows do not fit together. */
export function checkSettings(cursor: Cursor, settings: Readonly<Record<string, unknown>>): string | null {
  const now = JSON.stringify(settings);
  const before = cursor.meta('settings');
  if (before === null) {
    cursor.setMeta('settings', now);
    return null;
  }
  if (before === now) return null;
  const old = JSON.parse(before) as Record<string, unknown>;
  return Object.keys(settings)
    .filter((key) => JSON.stringify(old[key]) !== JSON.stringify(settings[key]))
    .map((key) => `${key} was ${JSON.stringify(old[key] ?? null)} and is ${JSON.stringify(settings[key])}`)
    .join('; ');
}

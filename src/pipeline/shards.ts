/** The plan cut into shards: the unit of work of a thread, and of a file. */

import type { SourceSpec } from '../agents/agent.ts';

/** A shard is closed before it grows beyond this many bytes of sources … */
const SHARD_BYTES = 48 * 1024 * 1024;
/** … or this many sources. */
const SHARD_SOURCES = 1000;

/** A shard near the end is this much smaller at the most: the last ones should not leave threads without work. */
const LAST_SHARDS = 4;

/** Cuts a list, in its order, into pieces that stay below a size and a number, as far as single items do. */
export function cutBySize<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  maxBytes: number | ((rest: number) => number),
  maxItems: number,
): T[][] {
  const pieces: T[][] = [];
  let rest = items.reduce((n, item) => n + sizeOf(item), 0);
  let piece: T[] = [];
  let bytes = 0;
  let limit = typeof maxBytes === 'number' ? maxBytes : maxBytes(rest);
  for (const item of items) {
    const size = sizeOf(item);
    if (piece.length > 0 && (bytes + size > limit || piece.length >= maxItems)) {
      pieces.push(piece);
      rest -= bytes;
      piece = [];
      bytes = 0;
      if (typeof maxBytes !== 'number') limit = maxBytes(rest);
    }
    piece.push(item);
    bytes += size;
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

/** What must be read by one thread, one after the other: a file, or all the listed sessions of one database. */
export function unitsOf<T>(sources: readonly T[], specOf: (source: T) => SourceSpec): T[][] {
  const units: T[][] = [];
  let last: SourceSpec | null = null;
  for (const source of sources) {
    const spec = specOf(source);
    if (last !== null && spec.member !== undefined && last.member !== undefined && last.path === spec.path)
      units.at(-1)!.push(source);
    else units.push([source]);
    last = spec;
  }
  return units;
}

/**
 * Cuts the list, in its order, into shards. Depends on sizes alone, so that the files of a run are the same with any
 * number of threads.
 */
export const cutShards = <T>(sources: readonly T[], sizeOf: (source: T) => number): T[][] =>
  cutBySize(
    sources,
    sizeOf,
    (rest) => Math.max(SHARD_BYTES / LAST_SHARDS, Math.min(SHARD_BYTES, rest / LAST_SHARDS)),
    SHARD_SOURCES,
  );

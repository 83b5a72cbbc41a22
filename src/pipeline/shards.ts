/** The plan cut into shards: the unit of work of a thread, and of a file. */

/** A shard is closed before it grows beyond this many bytes of sources … */
const SHARD_BYTES = 48 * 1024 * 1024;
/** … or this many sources. */
const SHARD_SOURCES = 1000;

/**
 * Cuts the list, in its order, into shards. Depends on sizes alone, so that the files of a run are the same with any
 * number of threads.
 */
export function cutShards<T>(sources: readonly T[], sizeOf: (source: T) => number): T[][] {
  const shards: T[][] = [];
  let shard: T[] = [];
  let bytes = 0;
  for (const source of sources) {
    const size = sizeOf(source);
    if (shard.length > 0 && (bytes + size > SHARD_BYTES || shard.length >= SHARD_SOURCES)) {
      shards.push(shard);
      shard = [];
      bytes = 0;
    }
    shard.push(source);
    bytes += size;
  }
  if (shard.length > 0) shards.push(shard);
  return shards;
}

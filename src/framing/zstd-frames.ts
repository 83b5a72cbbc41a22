/**
 * Where the frames of a zstd file begin and end (RFC 8878, section 3). A file may hold several, one after another, as
 * writers that append leave them; Node's decompressor stops behind the first.
 */

const MAGIC = 0xfd2fb528;
/** The last four bits are anything: frames of user data, to be skipped. */
const SKIPPABLE = 0x184d2a50;
/** The longest frame header, magic number included. */
const LONGEST_HEADER = 18;

export interface ZstdFrames {
  /** Ranges of frames with content; the last one ends at the end of the file where its end is missing. */
  readonly frames: readonly { readonly start: number; readonly end: number }[];
  /** Where the frames end and something else begins; null where the file is frames to its end. */
  readonly garbageAt: number | null;
}

/** Reads `length` bytes at a position; fewer only at the end. */
type ReadAt = (position: number, length: number) => Buffer;

/** Length of a frame header, magic number included; null where the file ends before it does. */
function headerLength(header: Buffer): number | null {
  const descriptor = header[4];
  if (descriptor === undefined) return null;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeFlag;
  const length = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  return header.length < length ? null : length;
}

/** One past the frame whose header is given; null where its end is missing. */
function frameEnd(start: number, header: Buffer, size: number, readAt: ReadAt): number | null {
  const length = headerLength(header);
  if (length === null) return null;
  const checksum = (header[4]! & 4) === 0 ? 0 : 4;
  let at = start + length;
  for (;;) {
    const block = readAt(at, 3);
    if (block.length < 3) return null;
    const word = block.readUIntLE(0, 3);
    const isRun = ((word >> 1) & 3) === 1;
    at += 3 + (isRun ? 1 : word >> 3);
    if (at > size) return null;
    if ((word & 1) === 1) return at + checksum > size ? null : at + checksum;
  }
}

/** Walks the frames of a file of `size` bytes by their headers; nothing is decompressed. */
export function zstdFrames(size: number, readAt: ReadAt): ZstdFrames {
  const frames: { start: number; end: number }[] = [];
  for (let at = 0; at < size; ) {
    const header = readAt(at, LONGEST_HEADER);
    const magic = header.length < 4 ? 0 : header.readUInt32LE(0);
    if (magic === MAGIC) {
      const end = frameEnd(at, header, size, readAt) ?? size;
      frames.push({ start: at, end });
      at = end;
    } else if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE && header.length >= 8) {
      at += 8 + header.readUInt32LE(4);
    } else {
      return { frames, garbageAt: at };
    }
  }
  return { frames, garbageAt: null };
}

/** The mark that some editors put before UTF-8. It is no part of the first record, which JSON could not begin with. */
const MARK_BYTES = 3;

/** Length of the mark at the beginning of a file's bytes; 0 where there is none. */
export const markLength = (bytes: Buffer): number =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? MARK_BYTES : 0;

export const withoutMark = (bytes: Buffer): Buffer => bytes.subarray(markLength(bytes));

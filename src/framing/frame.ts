/** Where a record stands in its source. */
export interface Position {
  /** 0-based number of the record. */
  readonly ordinal: number;
  /** First byte; null where the source is not byte-addressed. Offsets count decompressed bytes. */
  readonly byteStart: number | null;
  /** One past the last byte, the line end excluded. */
  readonly byteEnd: number | null;
  /** JSON Pointer or table/row key; null where byte-addressed. */
  readonly locator: string | null;
}

/**
 * One record of a source, as framing hands it to a decoder. The same object serves every record of a source: it is
 * valid only until the next one is asked for. Keep `position()`, never the frame or its bytes.
 */
export interface Frame extends Position {
  /** The record parsed as JSON. Throws a record-scoped `ScopedError` where it does not parse. */
  json(): unknown;
  /** The record's bytes: a view that the next frame overwrites. */
  bytes(): Buffer;
  /** Whether the record's bytes hold the needle; far cheaper than parsing. */
  includes(needle: Buffer): boolean;
  /** A copy of the position, to keep. */
  position(): Position;
  /** The bytes that ended the line; absent where the source has no lines. */
  readonly lineEnd?: string;
  /** Set where the record was drained because it is over the limit: `json()` throws, `bytes()` is empty. */
  readonly oversized?: boolean;
}

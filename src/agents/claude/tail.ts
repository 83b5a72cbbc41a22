/** What an outline has to know of the part of a file that was read before. */

/** JSON-able end of an outline: enough to tell whether new rows leave all rows that were told as they are. */
export interface Tail {
  /** Rows with a uuid, in the whole file so far. */
  readonly rows: number;
  /** The last of them. Arrays in file order. */
  readonly window: {
    /** `hash53` of the uuid. */
    readonly ids: readonly number[];
    /** Index in the window; `ROOT` or `BEFORE`. */
    readonly parents: readonly number[];
    readonly flags: readonly number[];
    /** `hash53` of the reply's key; 0 = no reply. */
    readonly replies: readonly number[];
    readonly onPath: readonly number[];
    readonly active: readonly number[];
  };
  /** Index in the window of the row that new rows should follow; `ROOT` = none yet, `BEFORE` = out of sight. */
  readonly leaf: number;
  /** Whether a rewind mark is in force at the end. */
  readonly rewound: boolean;
  /** The reply whose rows were last seen: more of them may come. */
  readonly open: { readonly key: number; readonly request: number; readonly copied: boolean } | null;
  /**
   * Low 32 bits of the keys of closed replies, the last `CLOSED_REPLIES` of them, in base64. A false match costs no more
   * than a needless whole read.
   */
  readonly closed: string;
  readonly refs: readonly string[];
  /** `hash53` of `leafUuid` of summaries whose row was not seen. */
  readonly summaries: readonly number[];
}

/** Of an end that nobody goes on from. */
export const NO_WINDOW: Tail['window'] = { ids: [], parents: [], flags: [], replies: [], onPath: [], active: [] };

/** Parents that are no index. */
export const ROOT = -1;
/** In the file, but before the window. */
export const BEFORE = -2;

export const WINDOW = 128;
export const CLOSED_REPLIES = 4096;
export const PENDING_SUMMARIES = 256;

export const packKeys = (keys: readonly number[]): string => {
  const words = Uint32Array.from(keys.slice(-CLOSED_REPLIES), (key) => key % 4294967296);
  return Buffer.from(words.buffer).toString('base64');
};

export const unpackKeys = (packed: string): number[] => {
  const bytes = Buffer.from(packed, 'base64');
  return Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readUInt32LE(i * 4));
};

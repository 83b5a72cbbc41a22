/** Opens a source in the way its layout is framed. */
import { readdirSync } from 'node:fs';
import type { SourceFormat, SourceSpec } from '../agents/agent.ts';
import type { ByteBudget } from '../framing/byte-budget.ts';
import { type FileStat, openByteSource } from '../framing/byte-source.ts';
import { type OpenDatabase, openDatabase } from '../framing/database.ts';
import { readDocument } from '../framing/document.ts';
import { documentFrames } from '../framing/document-frames.ts';
import { sourceError } from '../framing/errors.ts';
import { folderFrames } from '../framing/folder.ts';
import type { Frame } from '../framing/frame.ts';
import { JsonlReader, type LineFilter } from '../framing/jsonl.ts';
import type { ReadLimits } from '../framing/limits.ts';
import { rowFrames } from '../framing/row-frames.ts';

export interface PassOptions {
  readonly from?: { readonly byte: number; readonly ordinal: number };
  readonly budget?: ByteBudget | null;
  readonly onProgress?: ((bytes: number) => void) | null;
  /** Only records with these bytes are wanted; others may be left out. */
  readonly only?: Buffer | null;
  readonly accepts?: LineFilter | null;
}

/** One pass over the frames of a source; the other members say afterwards how it went. */
export interface Pass {
  readonly frames: Iterable<Frame>;
  records(): number;
  /** One past the last complete record and its line end; null where the source is not byte-addressed. */
  lastCompleteByte(): number | null;
  /** Length of an unterminated last record; 0 = clean end. */
  tornBytes(): number;
}

export interface OpenSource {
  readonly stat: FileStat;
  /** Bytes that are read. */
  readonly size: number;
  /** Whether the end of a compressed stream is missing. */
  readonly truncated: boolean;
  /** Why what follows the bytes that are read cannot be; null where nothing does. */
  readonly damage: string | null;
  pass(options?: PassOptions): Pass;
  /** Throws a source-scoped error where the source was rewritten while it was read. */
  checkUnchanged(): void;
  /** Hashes of head and tail of the first `end` bytes; null where reading cannot go on at a byte. */
  windows(end: number): { head: string; tail: string } | null;
  close(): void;
}

/** What is read at a time where only the head of a source is looked at. */
const HEAD_BYTES = 32 * 1024;

const countedPass = (frames: Iterable<Frame>): Pass => {
  let records = 0;
  function* counted(): Generator<Frame, void, undefined> {
    for (const frame of frames) {
      records++;
      yield frame;
    }
  }
  return { frames: counted(), records: () => records, lastCompleteByte: () => null, tornBytes: () => 0 };
};

async function openFile(
  spec: SourceSpec,
  format: SourceFormat,
  limits: ReadLimits,
  part: 'all' | 'head',
): Promise<OpenSource> {
  const bytes = await openByteSource(spec.path, limits, part);
  const linePass = (options: PassOptions): Pass => {
    const reader = new JsonlReader(bytes, limits, {
      ...(options.from === undefined ? {} : { from: options.from }),
      budget: options.budget ?? null,
      only: options.only ?? null,
      accepts: options.accepts ?? null,
      keepsBlank: format.framing === 'text',
      ...(options.onProgress == null ? {} : { onProgress: options.onProgress }),
      ...(part === 'head' ? { chunkBytes: HEAD_BYTES } : {}),
    });
    return {
      frames: reader.frames(),
      records: () => reader.records,
      lastCompleteByte: () => reader.lastCompleteByte,
      tornBytes: () => reader.tornBytes,
    };
  };
  const documentPass = (options: PassOptions): Pass => {
    if (format.lists === undefined) {
      const pass = countedPass([readDocument(bytes, limits)]);
      options.onProgress?.(bytes.size);
      return pass;
    }
    const { frames, records } = documentFrames(bytes, limits, format.lists, options);
    return { frames, records, lastCompleteByte: () => null, tornBytes: () => 0 };
  };
  return {
    stat: bytes.stat,
    size: bytes.size,
    truncated: bytes.truncated,
    damage: bytes.damage,
    pass: (options = {}) => (format.framing === 'document' ? documentPass(options) : linePass(options)),
    checkUnchanged: () => bytes.checkUnchanged(),
    windows: (end) => (format.framing === 'document' ? null : bytes.windows(end)),
    close: () => bytes.close(),
  };
}

/** The database that was read last stays open, in its transaction: its other sessions come next. */
let held: OpenDatabase | null = null;

/** Closes what is kept open between sources. To be called at the end of every task. */
export function releaseSources(): void {
  held?.close();
  held = null;
}

function hold(path: string): OpenDatabase {
  if (held !== null && held.path === path) return held;
  releaseSources();
  held = openDatabase(path);
  return held;
}

function openMember(spec: SourceSpec, format: SourceFormat, limits: ReadLimits): OpenSource {
  const { query } = format;
  if (query === undefined) throw new Error('a format with framing `database` has a `query`');
  const database = hold(spec.path);
  if (limits.maxFile !== null && database.stat.size > limits.maxFile) {
    throw sourceError(
      'file_too_large',
      `has ${database.stat.size} bytes, over --max-file ${limits.maxFile}; raise it to read this source`,
    );
  }
  return {
    stat: database.stat,
    size: spec.bytes ?? database.stat.size,
    truncated: false,
    damage: null,
    pass(options = {}) {
      options.onProgress?.(spec.bytes ?? 0);
      const { member } = spec;
      return countedPass(member === undefined ? [] : rowFrames(query(database, member, limits.maxLine)));
    },
    checkUnchanged() {
      try {
        database.checkUnchanged();
      } catch (error) {
        // The next attempt must look at what is there now.
        releaseSources();
        throw error;
      }
    },
    windows: () => null,
    close: () => undefined,
  };
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw sourceError('unreadable', `holds a folder that cannot be listed (${code})`, error);
  }
};

function openFolder(spec: SourceSpec, format: SourceFormat, limits: ReadLimits): OpenSource {
  const { files } = format;
  if (files === undefined) throw new Error('a format with framing `folder` has `files`');
  return {
    stat: { size: spec.bytes ?? 0, mtimeMs: 0, ctimeMs: 0, inode: 0 },
    size: spec.bytes ?? 0,
    truncated: false,
    damage: null,
    pass(options = {}) {
      options.onProgress?.(spec.bytes ?? 0);
      return countedPass(folderFrames(files(spec, namesIn), limits));
    },
    // Every file is read in one go; one that changes between two readings changes the state that discovery sees.
    checkUnchanged: () => undefined,
    windows: () => null,
    close: () => undefined,
  };
}

/**
 * Opens a source. `head`: only its first records are wanted, and `checkUnchanged` may not be asked. Throws a
 * source-scoped `ScopedError` where it cannot be read.
 */
export async function openSource(
  spec: SourceSpec,
  format: SourceFormat,
  limits: ReadLimits,
  part: 'all' | 'head' = 'all',
): Promise<OpenSource> {
  if (spec.fault !== undefined) throw sourceError(spec.fault.code, spec.fault.message);
  switch (format.framing) {
    case 'database':
      return openMember(spec, format, limits);
    case 'folder':
      return openFolder(spec, format, limits);
    default:
      return openFile(spec, format, limits, part);
  }
}

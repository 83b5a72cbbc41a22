/** Reads one source: frames, outline, decoder, and the ReadSummary of how it went. */
import {
  type DecodeContext,
  type Decoder,
  type Links,
  type Outlined,
  ReadWholeSource,
  type SourceFormat,
  type SourceSpec,
} from '../agents/agent.ts';
import type { ByteBudget } from '../framing/byte-budget.ts';
import type { FileStat } from '../framing/byte-source.ts';
import { ScopedError } from '../framing/errors.ts';
import type { Frame } from '../framing/frame.ts';
import type { ReadLimits } from '../framing/limits.ts';
import { readSmallFile } from '../framing/small-file.ts';
import type { ReadStatus, ReadSummary } from '../records/summary.ts';
import type { IssueRow } from '../records/tables.ts';
import { type EmitterState, type Projection, type RowTarget, SourceEmitter, type SourceIdentity } from './emitter.ts';
import { type OpenSource, openSource, type Pass } from './open-source.ts';
import type { SessionPart } from './session-part.ts';

/** Sidecars are small by nature; formats say where they are not. */
const MAX_SIDECAR = 1024 * 1024;

/** Where an `append` read goes on; JSON-able. */
export interface ResumePoint {
  readonly byte: number;
  readonly ordinal: number;
  /** Hashes of the first bytes and of those before `byte`: the prefix must be the one that was read. */
  readonly windows: { readonly head: string; readonly tail: string };
  readonly decoder: unknown;
  readonly emitter: EmitterState;
}

export interface ReadRequest {
  readonly spec: SourceSpec;
  readonly format: SourceFormat;
  readonly identity: SourceIdentity;
  readonly projection: Projection;
  readonly limits: ReadLimits;
  /** Keys this source holds as copies, and whether its relatives were found. */
  readonly copies: ReadonlySet<number>;
  readonly foundRelated: boolean;
  readonly parentId: string | null;
  /** Links on which `copies` rest; null where the family was not looked at. */
  readonly links: Links | null;
  /** An outline that was made before, of a source of this size. */
  readonly outline: { readonly size: number; readonly outlined: Outlined<unknown> } | null;
  readonly resume: ResumePoint | null;
  /** Whether a position to go on from is wanted at the end. */
  readonly wantsResume: boolean;
  /** Whether the leaner reading for totals will do, where the format has one. */
  readonly isLean: boolean;
  readonly budget: ByteBudget | null;
  readonly onProgress: ((bytes: number) => void) | null;
}

export interface SourceReading {
  readonly summary: ReadSummary;
  /** null where the source could not be opened. */
  readonly stat: FileStat | null;
  readonly issues: readonly IssueRow[];
  readonly sessions: readonly SessionPart[];
  /** null where the format is not read on, or the read failed. */
  readonly resume: ResumePoint | null;
  /** Set where the source has relatives that its head did not show: it must be read again with them. */
  readonly newLinks: Links | null;
}

const readSidecars = ({ spec, format }: ReadRequest, emitter: SourceEmitter): Record<string, Buffer> => {
  const contents: Record<string, Buffer> = {};
  const limit = format.maxSidecar ?? MAX_SIDECAR;
  for (const [name, path] of Object.entries(spec.sidecars)) {
    const file = readSmallFile(path, limit);
    if ('bytes' in file) contents[name] = file.bytes;
    else if (file.fault !== 'absent') {
      const code = file.fault === 'too_large' ? 'sidecar_too_large' : 'sidecar_unreadable';
      emitter.issue('warning', code, `sidecar ${name} ${file.detail}; it was passed by`);
    }
  }
  return contents;
};

/** The leaner reading, where only totals are wanted and the format has one. */
const totalsOf = (request: ReadRequest): SourceFormat['totals'] | null =>
  request.projection.totalsOnly && request.isLean ? (request.format.totals ?? null) : null;

const openPass = (request: ReadRequest, source: OpenSource, counts: boolean): Pass =>
  source.pass({
    ...(request.resume === null ? {} : { from: request.resume }),
    budget: request.budget,
    only: totalsOf(request)?.mark ?? null,
    accepts: totalsOf(request)?.accepts ?? null,
    onProgress: counts ? request.onProgress : null,
  });

/** Hands every frame to the decoder; what it throws about one record stops that record only. */
function decodeFrames(frames: Iterable<Frame>, decoder: Decoder, emitter: SourceEmitter): void {
  for (const frame of frames) {
    try {
      decoder.frame(frame);
    } catch (error) {
      if (error instanceof ScopedError && error.scope === 'record') {
        emitter.badRecord(frame.position(), error.code, error.message);
      } else if (error instanceof RangeError) {
        // Nesting beyond the stack, or a text beyond the engine's limit: this record, not the source.
        emitter.badRecord(
          frame.position(),
          'record_too_deep',
          'the record is nested too deeply or too long to be decoded',
        );
      } else throw error;
    }
  }
}

/** Lets `raw` rows out as the frames go by. */
function* withRawRows(frames: Iterable<Frame>, request: ReadRequest, target: RowTarget): Generator<Frame> {
  const { agent, sourceId } = request.identity;
  for (const frame of frames) {
    if (frame.oversized !== true) {
      const record = Buffer.from(frame.bytes());
      target.row(
        'raw',
        {
          agent,
          source_id: sourceId,
          ordinal: frame.ordinal,
          byte_start: frame.byteStart,
          byte_end: frame.byteEnd,
          record,
          delimiter: Buffer.from(frame.lineEnd ?? ''),
        },
        record.length + 200,
      );
    }
    yield frame;
  }
}

/** Only framing is asked for: no record is parsed, but one that was drained is still an error. */
function skimFrames(frames: Iterable<Frame>, emitter: SourceEmitter): void {
  for (const frame of frames) {
    if (frame.oversized === true)
      emitter.badRecord(frame.position(), 'line_too_long', 'the line is over --max-line; raise it to read the line');
  }
}

/** The outline that is known already, where it is of just these bytes and no tail of it is wanted; else a new one. */
function outlineOf(
  request: ReadRequest,
  make: NonNullable<SourceFormat['outline']>,
  source: OpenSource,
): Outlined<unknown> {
  const known = request.outline;
  if (known !== null && !request.wantsResume && known.size === source.size) return known.outlined;
  return make(openPass(request, source, false).frames, request.spec, request.resume?.decoder ?? null);
}

const statusOf = (emitter: SourceEmitter, torn: boolean): ReadStatus =>
  emitter.lineErrors > 0 ? 'complete_with_errors' : torn ? 'incomplete_tail' : 'complete';

const sameLinks = (a: Links, b: Links): boolean => {
  const key = (links: Links): string => [...new Set(links.refs)].sort().join('\n');
  return key(a) === key(b);
};

/**
 * Reads a source and tells its rows to `target`. Never throws for what a store holds or how it behaves: that is the
 * status of the summary. Throws `ReadWholeSource` where `request.resume` cannot be gone on from.
 */
export async function readSource(request: ReadRequest, target: RowTarget): Promise<SourceReading> {
  const emitter = new SourceEmitter(request.identity, request.projection, target, request.resume?.emitter ?? null);
  let source: OpenSource | null = null;
  let pass: Pass | null = null;
  const close = (status: ReadStatus, rest: Partial<SourceReading>, error: ReadSummary['error']): SourceReading => {
    emitter.closeIssues();
    return {
      summary: {
        status,
        records: pass?.records() ?? 0,
        lineErrors: emitter.lineErrors,
        ignoredTypes: emitter.ignoredCounts(),
        unknownTypes: emitter.unknownCounts(),
        lastCompleteByte: pass?.lastCompleteByte() ?? null,
        rows: emitter.rowCounts,
        error,
      },
      stat: source?.stat ?? null,
      issues: emitter.issues,
      sessions: emitter.sessions,
      resume: null,
      newLinks: null,
      ...rest,
    };
  };
  try {
    source = await openSource(request.spec, request.format, request.limits);
    if (request.resume !== null) checkPrefix(source, request.resume);
    const wantsEvents = request.projection.tables.some(
      (t) => t === 'messages' || t === 'tool_calls' || t === 'tool_results' || t === 'sessions' || t === 'usage',
    );
    let outline: unknown = null;
    const totals = totalsOf(request);
    if (request.format.outline !== undefined && wantsEvents && totals === null) {
      const found = outlineOf(request, request.format.outline, source);
      outline = found.outline;
      if (found.links !== undefined && request.links !== null && !sameLinks(found.links, request.links)) {
        return close('complete', { newLinks: found.links }, null);
      }
    }
    const context: DecodeContext = {
      source: request.spec,
      sidecars: readSidecars(request, emitter),
      outline,
      copies: request.copies,
      foundRelated: request.foundRelated,
      parentId: request.parentId,
      resume: request.resume?.decoder ?? null,
    };
    pass = openPass(request, source, true);
    if (request.format.framing === 'database' && request.spec.member === undefined) return close('complete', {}, null);
    const decoder = (totals ?? request.format).decoder(context, emitter);
    const wantsRaw = request.projection.tables.includes('raw');
    const frames = wantsRaw ? withRawRows(pass.frames, request, target) : pass.frames;
    if (wantsEvents || request.projection.tables.includes('history')) decodeFrames(frames, decoder, emitter);
    else skimFrames(frames, emitter);
    source.checkUnchanged();
    const torn = tellTail(pass, source, request, emitter);
    const resume = resumePoint(request, source, pass, decoder, emitter);
    decoder.finish();
    return close(statusOf(emitter, torn), { resume }, null);
  } catch (error) {
    if (error instanceof ReadWholeSource) throw error;
    const scoped = error instanceof ScopedError ? error : null;
    const summary = scoped ?? { code: 'decoder_failed', message: `decoding failed: ${(error as Error).message}` };
    if (scoped !== null && scoped.scope === 'run') throw error;
    const status = request.spec.fault?.status ?? 'failed';
    emitter.addIssue(
      status === 'unsupported' ? 'info' : 'error',
      summary.code,
      `${request.spec.path} ${summary.message}`,
    );
    return close(status, { sessions: [] }, { code: summary.code, message: summary.message });
  } finally {
    source?.close();
  }
}

/** Reports the unterminated end of the source, if there is one. */
function tellTail(pass: Pass, source: OpenSource, request: ReadRequest, emitter: SourceEmitter): boolean {
  if (source.truncated) {
    emitter.addIssue(
      'warning',
      'truncated_stream',
      'the compressed stream ends before its end mark; all whole records before it were read',
    );
  }
  if (pass.tornBytes() === 0 && source.damage === null) return source.truncated;
  const position = {
    ordinal: pass.records(),
    byteStart: pass.lastCompleteByte(),
    byteEnd: source.size,
    locator: null,
  };
  if (source.damage !== null) {
    emitter.badRecord(position, 'bad_zstd', `${source.damage}; all whole records before it were read`);
    return false;
  }
  if (request.limits.tail === 'strict') {
    emitter.badRecord(position, 'torn_tail', 'the last line has no line end (--tail strict)');
    return false;
  }
  // No issue: the writer is still at it. The status says so, and reading goes on there next time.
  return true;
}

/** Throws `ReadWholeSource` where the bytes before the saved position are not those that were read. */
function checkPrefix(source: OpenSource, resume: ResumePoint): void {
  const now = source.size < resume.byte ? null : source.windows(resume.byte);
  if (now === null || now.head !== resume.windows.head || now.tail !== resume.windows.tail) throw new ReadWholeSource();
}

function resumePoint(
  request: ReadRequest,
  source: OpenSource,
  pass: Pass,
  decoder: Decoder,
  emitter: SourceEmitter,
): ResumePoint | null {
  const end = pass.lastCompleteByte();
  if (!request.wantsResume || request.format.incremental !== 'append' || end === null || decoder.save === undefined)
    return null;
  const windows = source.windows(end);
  if (windows === null) return null;
  return {
    byte: end,
    ordinal: pass.records(),
    windows,
    decoder: decoder.save(),
    emitter: emitter.save(),
  };
}

/** What runs in the worker threads: each task is one export. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Claims, Links, SourceFormat } from '../agents/agent.ts';
import { ReadWholeSource } from '../agents/agent.ts';
import { loadFormat } from '../agents/load-format.ts';
import { openSource, releaseSources } from '../decoding/open-source.ts';
import { type ReadRequest, readSource, type SourceReading } from '../decoding/read-source.ts';
import { ByteBudget } from '../framing/byte-budget.ts';
import { ScopedError } from '../framing/errors.ts';
import type { Frame } from '../framing/frame.ts';
import { countedColumns } from '../ledger/normalize.ts';
import { passesGate } from '../records/summary.ts';
import type { IssueRow, MessageRow } from '../records/tables.ts';
import { sinkOpener } from '../sinks/sink.ts';
import { Part } from './parts.ts';
import type {
  ClaimsFound,
  ClaimsResult,
  ClaimsTask,
  PeekResult,
  PeekTask,
  RunSettings,
  ShardOutput,
  ShardResult,
  ShardSource,
  ShardTask,
  SourceOutcome,
  SourceRef,
  UsageResult,
  UsageReturn,
  UsageTask,
} from './protocol.ts';
import { contentHash, RowStates } from './row-state.ts';
import {
  ReturnedUsage,
  ShardWriter,
  type UsageCollector,
  UsageSpool,
  usageColumns,
  type WriterOptions,
} from './shard-writer.ts';
import { TotalsCollector } from './totals.ts';

const formatOf = (source: SourceRef): Promise<SourceFormat> => loadFormat(source.agent, source.spec.storeKind);

const noLinks: Links = { ids: [], refs: [] };
const noClaims = (): Claims => ({ keys: new Float64Array(0), ranks: new Uint8Array(0), firstTimestamp: null });

/** Runs `read` over the frames of a source; one that cannot be read gives `otherwise`: its own reading will say why. */
async function overFrames<T>(
  settings: RunSettings,
  source: SourceRef,
  format: SourceFormat,
  otherwise: T,
  read: (frames: Iterable<Frame>, size: number) => T,
  part: 'all' | 'head' = 'all',
): Promise<T> {
  try {
    const open = await openSource(source.spec, format, settings.limits, part);
    try {
      return read(open.pass().frames, open.size);
    } finally {
      open.close();
    }
  } catch (error) {
    if (error instanceof ScopedError) return otherwise;
    throw error;
  }
}

export async function peek(task: PeekTask): Promise<PeekResult> {
  const links: Links[] = [];
  for (const source of task.sources) {
    const format = await formatOf(source);
    const { peek: peekFormat } = format;
    links.push(
      peekFormat === undefined
        ? noLinks
        : await overFrames(task.settings, source, format, noLinks, (frames) => peekFormat(frames, source.spec), 'head'),
    );
  }
  releaseSources();
  return links;
}

export async function claims(task: ClaimsTask): Promise<ClaimsResult> {
  const results: ClaimsFound[] = [];
  for (const source of task.sources) {
    const format = await formatOf(source);
    const { claims: claimsOf } = format;
    const none = { claims: noClaims(), outline: null };
    if (claimsOf === undefined) results.push(none);
    else {
      results.push(
        await overFrames<ClaimsFound>(task.settings, source, format, none, (frames, size) => {
          const { outline, ...found } = claimsOf(frames, source.spec);
          return { claims: found, outline: outline === undefined ? null : { size, outlined: outline } };
        }),
      );
    }
  }
  releaseSources();
  return results;
}

async function writerFor(output: ShardOutput, usage: UsageCollector): Promise<WriterOptions> {
  switch (output.kind) {
    case 'totals':
      return { kind: 'none', usage };
    case 'stream':
      return { kind: 'stream', folder: output.folder, part: output.part, usage };
    case 'snapshot':
    case 'batch':
      return {
        kind: 'tables',
        usage,
        parts: {
          open: await sinkOpener(output.format, output.engine),
          format: output.format,
          folder: output.folder,
          part: output.part,
          partition: output.partition,
          sync: output.sync,
        },
      };
  }
}

function collectorFor(output: ShardOutput): UsageCollector {
  if (output.kind === 'snapshot') return new UsageSpool(output.spool);
  if (output.kind === 'totals') return new TotalsCollector(output.timeZone);
  return new ReturnedUsage();
}

export async function shard(task: ShardTask): Promise<ShardResult> {
  const usage = collectorFor(task.output);
  const writer = new ShardWriter(await writerFor(task.output, usage));
  const outcomes: SourceOutcome[] = [];
  try {
    for (const [index, source] of task.sources.entries()) {
      Atomics.store(task.current, 0, index);
      outcomes.push(await readOne(task.settings, source, writer, usage));
    }
    const { files, streamFiles } = await writer.close();
    return {
      index: task.index,
      outcomes,
      files,
      streamFiles,
      usageSpool: usage instanceof UsageSpool ? usage.close() : null,
      totals: usage instanceof TotalsCollector ? usage.pack() : null,
    };
  } catch (error) {
    writer.abort();
    throw error;
  } finally {
    releaseSources();
  }
}

/** A database that is written to while it is read as a file at rest is read again so often at the most. */
const MAX_ATTEMPTS = 5;

/** A saved position that cannot be gone on from is no error: the source is read from its start. */
async function readOne(
  settings: RunSettings,
  source: ShardSource,
  writer: ShardWriter,
  usage: UsageCollector,
): Promise<SourceOutcome> {
  try {
    for (let attempt = 1; ; attempt++) {
      const outcome = await readFrom(settings, source, writer, usage, true);
      const isOvertaken = source.spec.member !== undefined && outcome.summary.error?.code === 'changed_while_read';
      if (!isOvertaken || attempt === MAX_ATTEMPTS) return outcome;
    }
  } catch (error) {
    const isLean = source.resume === null && settings.projection.totalsOnly;
    if (!(error instanceof ReadWholeSource) || (source.resume === null && !isLean)) throw error;
    writer.discard();
    return await readFrom(settings, { ...source, resume: null }, writer, usage, !isLean);
  }
}

async function readFrom(
  settings: RunSettings,
  source: ShardSource,
  writer: ShardWriter,
  usage: UsageCollector,
  isLean: boolean,
): Promise<SourceOutcome> {
  const states = source.prior === null ? null : new RowStates(source.prior);
  writer.begin(states);
  const format = await formatOf(source);
  const request: ReadRequest = {
    spec: source.spec,
    format,
    identity: {
      agent: source.agent,
      sourceId: source.sourceId,
      sourcePath: source.spec.path,
      sourceName: source.spec.name,
      host: settings.host,
      generation: source.generation,
    },
    projection: settings.projection,
    limits: settings.limits,
    copies: new Set(source.copies),
    foundRelated: source.foundRelated,
    parentId: source.parentId,
    links: source.links,
    outline: source.outline,
    resume: source.resume,
    wantsResume: source.prior !== null,
    isLean,
    budget: ByteBudget.attach(settings.budget),
    onProgress: (bytes) => Atomics.add(settings.progress, 0, BigInt(bytes)),
  };
  const reading = await readSource(request, writer);
  const passed = reading.newLinks === null && passesGate(reading.summary.status, settings.gate);
  if (!passed) {
    writer.discard();
    return outcome(source, reading, false, {}, null, []);
  }
  const isWhole = source.resume === null && format.isWindow !== true;
  if (states !== null && isWhole && reading.summary.status !== 'complete_with_errors') {
    tellWithdrawn(source, reading, states, writer);
  }
  const issues = states === null ? reading.issues : reading.issues.filter((issue) => isNewIssue(states, issue));
  const written = writer.commit();
  const returned: readonly UsageReturn[] = usage instanceof ReturnedUsage ? usage.rows : [];
  return outcome(source, { ...reading, issues }, true, written, states?.pack() ?? null, returned);
}

const outcome = (
  source: ShardSource,
  reading: SourceReading,
  passed: boolean,
  written: SourceOutcome['written'],
  rowState: Uint8Array | null,
  usage: readonly UsageReturn[],
): SourceOutcome => ({
  sourceId: source.sourceId,
  summary: reading.summary,
  stat: reading.stat,
  issues: reading.issues,
  sessions: passed ? reading.sessions : [],
  resume: reading.resume,
  newLinks: reading.newLinks,
  passed,
  written,
  rowState,
  usage,
});

/** An issue that an earlier read told already is not told again when the source is read whole once more. */
const isNewIssue = (states: RowStates, issue: IssueRow): boolean => {
  const key = [issue.code, issue.ordinal, issue.byte_start].join(' ');
  return states.admit('issues', hash('sha256', key, 'hex').slice(0, 32), contentHash(issue)) !== null;
};

/** Messages that the store no longer holds stay in the lake; one more revision says that they are not live any more. */
function tellWithdrawn(source: ShardSource, reading: SourceReading, states: RowStates, writer: ShardWriter): void {
  const [only, second] = reading.sessions;
  const sessionId = only !== undefined && second === undefined ? only.fields.session_id : null;
  for (const { eventId, revision } of states.withdraw()) {
    const row: MessageRow = {
      agent: source.agent,
      session_id: sessionId,
      source_id: source.sourceId,
      event_id: eventId,
      ordinal: null,
      byte_start: null,
      byte_end: null,
      locator: null,
      timestamp: null,
      timestamp_text: null,
      generation: source.generation,
      revision,
      is_copy: false,
      message_id: null,
      record_id: null,
      parent_record_id: null,
      role: null,
      author: null,
      kind: 'withdrawn',
      model: null,
      text: null,
      thinking: null,
      is_meta: false,
      is_active: false,
      content_kinds: [],
    };
    writer.put('messages', row, 500);
  }
}

/** Writes the usage rows of one shard, now that it is known which of them are counted. */
export async function writeUsage(task: UsageTask): Promise<UsageResult> {
  const part = new Part(
    {
      open: await sinkOpener(task.format, task.engine),
      format: task.format,
      folder: task.folder,
      part: task.part,
      partition: task.partition,
      sync: task.sync,
    },
    0,
  );
  // Nothing of a row is kept by the sink: one object serves all lines.
  const row: Record<string, unknown> = Object.fromEntries(usageColumns.map((name) => [name, null]));
  const lines = readFileSync(task.spool, 'utf8').split('\n');
  task.counted.forEach((isCounted, i) => {
    const values = JSON.parse(lines[i]!) as unknown[];
    for (let c = 0; c < usageColumns.length; c++) row[usageColumns[c]!] = values[c];
    if (isCounted === 0) for (const column of countedColumns) if (row[column] !== null) row[column] = 0;
    part.write('usage', row);
  });
  return part.close();
}

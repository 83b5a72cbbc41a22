/** Writes the rows of one shard, source by source: a source's rows come in whole or not at all. */

import { hash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RowTarget, UsageTally } from '../decoding/emitter.ts';
import { ClaimPacker, DIGEST_BYTES, type PackedClaims } from '../ledger/batch-ledger.ts';
import { hash53 } from '../records/identity.ts';
import { type Rows, type TableName, tables, type UsageRow } from '../records/tables.ts';
import { atPath } from '../sinks/file-output.ts';
import { NdjsonFile } from '../sinks/ndjson.ts';
import { Part, type PartsOptions } from './parts.ts';
import type { TableFile, UsageReturn } from './protocol.ts';
import { contentHash, type RowStates } from './row-state.ts';

/** Rows of a source are held back up to this size; a larger source gets a part of its own, which can be thrown away. */
const HOLD_BYTES = 12 * 1024 * 1024;

type AnyRow = Rows[TableName];

/** Where the rows of a part go. */
interface RowFile {
  write(table: TableName, row: AnyRow): void;
  abort(): void;
}

/** What usage rows of a shard become. */
export interface UsageCollector {
  add(row: UsageRow, claim: { native: boolean; variant: string | null }): void;
  /** Takes an observation of which only totals are wanted. */
  tally?(usage: UsageTally): void;
  /** Marks the beginning of a source, for `drop`. */
  begin(): void;
  drop(): void;
}

/** Digest of what counts as one reply, for the ledger. A reply keyed by its event has a hash for a key already. */
export const usageDigest = (agent: string, key: string, eventId: string): Buffer =>
  key === eventId
    ? Buffer.from(eventId, 'hex')
    : hash('sha256', `${agent}\u0000${key}`, 'buffer').subarray(0, DIGEST_BYTES);

/** 32-bit tag of a variant; 0 = null. */
export const variantTag = (variant: string | null): number =>
  (variant === null ? 0 : (hash53(variant) % 0xffffffff) | 1) >>> 0;

/** Usage rows kept for the main thread, a source at a time. */
export class ReturnedUsage implements UsageCollector {
  rows: UsageReturn[] = [];

  add(row: UsageRow, claim: { native: boolean; variant: string | null }): void {
    this.rows.push({ row, native: claim.native, variant: claim.variant });
  }

  begin(): void {
    this.rows = [];
  }

  drop(): void {
    this.rows = [];
  }
}

/** Columns of a usage row, in the order of a spooled line. */
export const usageColumns = tables.usage.columns.map((column) => column.name);

/** Usage rows spooled as JSON arrays until the ledger is settled; only their claims stay in memory. */
export class UsageSpool implements UsageCollector {
  readonly path: string;
  private readonly packer = new ClaimPacker();
  private descriptor: number | null = null;
  private held: string[] = [];
  private heldLength = 0;
  private written = 0;
  private mark = { bytes: 0, claims: 0 };

  constructor(path: string) {
    this.path = path;
  }

  add(row: UsageRow, claim: { native: boolean; variant: string | null }): void {
    const line = `${JSON.stringify(usageColumns.map((name) => row[name]))}\n`;
    this.held.push(line);
    this.heldLength += line.length;
    this.packer.add(
      usageDigest(row.agent, row.usage_key, row.event_id),
      variantTag(claim.variant),
      claim.native,
      row.counted_output_tokens ?? -1,
    );
    if (this.heldLength > 1024 * 1024) this.flush();
  }

  begin(): void {
    this.flush();
    this.mark = { bytes: this.written, claims: this.packer.length };
  }

  drop(): void {
    this.held = [];
    this.heldLength = 0;
    this.packer.truncate(this.mark.claims);
    if (this.descriptor !== null) ftruncateSync(this.descriptor, this.mark.bytes);
    this.written = this.mark.bytes;
  }

  close(): { path: string; claims: PackedClaims } | null {
    this.flush();
    if (this.descriptor !== null) closeSync(this.descriptor);
    return this.packer.length === 0 ? null : { path: this.path, claims: this.packer.pack() };
  }

  private flush(): void {
    if (this.held.length === 0) return;
    this.descriptor ??= openSync(this.path, 'wx', 0o600);
    const bytes = Buffer.from(this.held.join(''), 'utf8');
    const { descriptor, written } = this;
    atPath(this.path, () => {
      for (let done = 0; done < bytes.length; )
        done += writeSync(descriptor, bytes, done, bytes.length - done, written + done);
    });
    this.written += bytes.length;
    this.held = [];
    this.heldLength = 0;
  }
}

export type WriterOptions =
  | { readonly kind: 'tables'; readonly parts: PartsOptions; readonly usage: UsageCollector }
  | { readonly kind: 'stream'; readonly folder: string; readonly part: string; readonly usage: UsageCollector }
  | { readonly kind: 'none'; readonly usage: UsageCollector };

export class ShardWriter implements RowTarget {
  private readonly options: WriterOptions;
  private readonly files: Promise<TableFile[]>[] = [];
  private readonly streamFiles: string[] = [];
  private current: RowFile | null = null;
  private solo: RowFile | null = null;
  private held: [TableName, AnyRow][] = [];
  private heldBytes = 0;
  private states: RowStates | null = null;
  private written: Partial<Record<TableName, number>> = {};
  private nextPart = 0;

  constructor(options: WriterOptions) {
    this.options = options;
  }

  /** Begins a source. With `states`, only rows that are new or changed are written. */
  begin(states: RowStates | null): void {
    this.held = [];
    this.heldBytes = 0;
    this.states = states;
    this.written = {};
    this.options.usage.begin();
  }

  row(table: TableName, row: AnyRow, bytes: number): void {
    if (this.states !== null && 'event_id' in row && 'revision' in row) {
      const revision = this.states.admit(table, row.event_id, contentHash(row));
      if (revision === null) return;
      row.revision = revision;
    }
    this.put(table, row, bytes);
  }

  usage(row: UsageRow, claim: { native: boolean; variant: string | null }): void {
    this.written.usage = (this.written.usage ?? 0) + 1;
    this.options.usage.add(row, claim);
  }

  tally(usage: UsageTally): void {
    this.options.usage.tally?.(usage);
  }

  /** Writes a row as it is, past the row states. */
  put(table: TableName, row: AnyRow, bytes: number): void {
    this.written[table] = (this.written[table] ?? 0) + 1;
    if (this.options.kind === 'none') return;
    if (this.solo !== null) {
      this.solo.write(table, row);
      return;
    }
    this.held.push([table, row]);
    this.heldBytes += bytes;
    if (this.heldBytes > HOLD_BYTES) this.goSolo();
  }

  /** Keeps the rows of the source. */
  commit(): Partial<Record<TableName, number>> {
    if (this.solo !== null) {
      this.end(this.solo);
      this.solo = null;
    } else if (this.held.length > 0) {
      this.current ??= this.open();
      for (const [table, row] of this.held) this.current.write(table, row);
    }
    this.held = [];
    return this.written;
  }

  /** Drops the rows of the source. */
  discard(): void {
    this.solo?.abort();
    this.solo = null;
    this.held = [];
    this.options.usage.drop();
    this.written = {};
  }

  async close(): Promise<{ files: TableFile[]; streamFiles: string[] }> {
    if (this.current !== null) this.end(this.current);
    this.current = null;
    return { files: (await Promise.all(this.files)).flat(), streamFiles: this.streamFiles };
  }

  abort(): void {
    this.solo?.abort();
    this.current?.abort();
  }

  /** The source is too large to be held: what stood before it is closed, and it gets files of its own. */
  private goSolo(): void {
    if (this.current !== null) this.end(this.current);
    this.current = null;
    this.solo = this.open();
    for (const [table, row] of this.held) this.solo.write(table, row);
    this.held = [];
  }

  private open(): RowFile {
    const { options } = this;
    const number = this.nextPart++;
    if (options.kind === 'tables') return new Part(options.parts, number);
    if (options.kind === 'stream')
      return new NdjsonFile(join(options.folder, `${options.part}${number}.ndjson`), [], false);
    throw new Error('no rows are written for totals');
  }

  private end(file: RowFile): void {
    if (file instanceof Part) this.files.push(file.close());
    else if (file instanceof NdjsonFile) {
      const done = file.close();
      if (done !== null) this.streamFiles.push(done.path);
    }
  }
}

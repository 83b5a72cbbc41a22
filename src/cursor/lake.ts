/** The files of a lake: staged, moved into place, found again after a crash. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../framing/make-folder.ts';
import { syncFolder, writeWhole } from '../sinks/file-output.ts';
import { UsageError } from '../usage-error.ts';
import type { Batch, BatchFile, Cursor } from './cursor.ts';

/** Folder of a lake that holds what is sessionlake's own. */
export const OWN_FOLDER = '_sessionlake';
const MANIFEST_VERSION = 1;

export const stageFolder = (lake: string, batchId: string): string => join(lake, OWN_FOLDER, 'stage', batchId);
export const cursorPath = (lake: string): string => join(lake, OWN_FOLDER, 'cursor.db');
export const manifestPath = (lake: string): string => join(lake, OWN_FOLDER, 'manifest.json');

/** The lake is not what was committed: a prepared batch cannot be brought to its end, or files were lost. */
export class RecoveryError extends Error {}

const manifestSchema = z.looseObject({
  manifest_version: z.literal(MANIFEST_VERSION),
  kind: z.enum(['snapshot', 'incremental']),
  format: z.enum(['parquet', 'ndjson', 'arrow', 'arrow-stream']),
  batches: z.array(
    z.looseObject({
      batch_id: z.string(),
      files: z.array(
        z.looseObject({ table: z.string(), path: z.string(), bytes: z.number(), rows: z.number(), sha256: z.string() }),
      ),
    }),
  ),
});
export type Manifest = z.output<typeof manifestSchema>;

/** What is wrong with a text that is no manifest, in a few words. */
function fault(error: unknown): string {
  if (!(error instanceof z.ZodError)) return (error as Error).message;
  const [issue] = error.issues;
  return issue === undefined ? 'not a manifest' : `${issue.path.join('.')}: ${issue.message}`;
}

/** The manifest of a lake. Throws `UsageError` where there is none, or where it is damaged. */
export function readManifest(lake: string): Manifest {
  const path = manifestPath(lake);
  if (!existsSync(path))
    throw new UsageError(`${lake} is no lake: it has no ${OWN_FOLDER}/manifest.json; check the path of the folder`);
  const text = readFileSync(path, 'utf8');
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    const next = existsSync(cursorPath(lake)) ? "the next 'sessionlake sync' writes it anew" : 'write the lake anew';
    throw new UsageError(`${path} is damaged (${fault(error)}); ${next}`);
  }
}

/** Writes the manifest as a whole; gives its digest. */
export function writeManifest(
  lake: string,
  manifest: {
    readonly kind: Manifest['kind'];
    readonly format: string;
    readonly batches: readonly { readonly batch_id: string; readonly files: readonly BatchFile[] }[];
  },
): string {
  const text = `${JSON.stringify({ manifest_version: MANIFEST_VERSION, ...manifest }, null, 1)}\n`;
  writeWhole(manifestPath(lake), text);
  return hash('sha256', text);
}

const LOST_ADVICE =
  "put them back ('sessionlake verify' lists all); or move the folder away and sync anew: all that the stores still " +
  "hold is written again; or, where their rows may go, 'sessionlake cursor reset --lost-files' takes missing files " +
  'off the list, and syncs go on without them';

/** Moves the files of a prepared batch into place; files that are there already were moved before a crash. */
function moveIntoPlace(lake: string, batchId: string, files: readonly BatchFile[]): void {
  const stage = stageFolder(lake, batchId);
  const lost = files.find(({ path }) => !existsSync(join(stage, path)) && !existsSync(join(lake, path)));
  if (lost !== undefined) {
    throw new RecoveryError(
      `${lake}: batch ${batchId} was interrupted before its end, and ${lost.path} of it is gone from ${stage} and from ` +
        `the lake. For files that were lost: ${LOST_ADVICE}`,
    );
  }
  const folders = new Set<string>();
  for (const { path } of files) {
    const from = join(stage, path);
    const to = join(lake, path);
    const folder = dirname(to);
    if (!folders.has(folder)) makeFolder(folder, 0o700);
    folders.add(folder);
    if (existsSync(from)) renameSync(from, to);
  }
  for (const folder of folders) syncFolder(folder);
}

/** Whether the manifest is the one that was written last. */
function isManifestCurrent(cursor: Cursor, lake: string): boolean {
  const path = manifestPath(lake);
  return existsSync(path) && hash('sha256', readFileSync(path)) === cursor.meta('manifest');
}

/**
 * Brings prepared batches to their end: files into place, then the manifest, then marked committed. A manifest that is
 * missing, damaged or older than the last batch is written anew: the cursor knows all files.
 */
export function rollForward(cursor: Cursor, lake: string, format: string): number {
  const prepared = cursor.batches('prepared');
  if (prepared.length === 0 && isManifestCurrent(cursor, lake)) return 0;
  for (const { batchId, files } of prepared) moveIntoPlace(lake, batchId, files);
  const batches = cursor.batches().map(({ batchId, files }) => ({ batch_id: batchId, files }));
  const digest = writeManifest(lake, { kind: 'incremental', format, batches });
  cursor.database.transaction(() => {
    cursor.statement("UPDATE batches SET state = 'committed' WHERE state = 'prepared'").run();
    cursor.setMeta('manifest', digest);
  })();
  return prepared.length;
}

/** Removes what unfinished runs left staged. Only under the lock, and only after `rollForward`. */
export function discardStage(lake: string): void {
  rmSync(join(lake, OWN_FOLDER, 'stage'), { recursive: true, force: true });
}

/** Files named in a message. */
const NAMED = 3;

/** What is wrong with a file by its size alone; null where nothing is. */
function sizeFault(lake: string, { path, bytes }: BatchFile): string | null {
  const size = statSync(join(lake, path), { throwIfNoEntry: false })?.size;
  if (size === undefined) return `${path} is missing`;
  return size === bytes ? null : `${path} has ${size} ${size === 1 ? 'byte' : 'bytes'}, not ${bytes}`;
}

/**
 * Throws `RecoveryError` where committed files are missing or have another size: what is appended to such a lake would
 * hide that rows are lost. Contents are for `verify`.
 */
export function checkFiles(lake: string, committed: readonly Batch[]): void {
  const faults: string[] = [];
  let files = 0;
  for (const batch of committed) {
    for (const file of batch.files) {
      files++;
      const found = sizeFault(lake, file);
      if (found !== null) faults.push(found);
    }
  }
  if (faults.length === 0) return;
  const more = faults.length > NAMED ? ` and ${faults.length - NAMED} more` : '';
  throw new RecoveryError(
    `${lake} is not as it was committed: ${faults.slice(0, NAMED).join(', ')}${more} ` +
      `(${faults.length} of ${files} ${files === 1 ? 'file' : 'files'}). Nothing was read or written. ` +
      `For files that were lost: ${LOST_ADVICE}`,
  );
}

/**
 * Takes files that are gone off the list of what was committed, at the user's word: their rows are lost to the lake. Gives
 * their paths. Throws `UsageError` where a file is there with another size: readers would stumble over it.
 */
export function forgetLostFiles(cursor: Cursor, lake: string): string[] {
  const lost: string[] = [];
  const kept = new Map<string, BatchFile[]>();
  for (const { batchId, state, files } of cursor.batches()) {
    const staged = (path: string): boolean =>
      state === 'prepared' && existsSync(join(stageFolder(lake, batchId), path));
    const there = files.filter((file) => {
      const fault = sizeFault(lake, file);
      if (fault === null) return true;
      if (existsSync(join(lake, file.path)))
        throw new UsageError(`${lake}: ${fault}; put it back or remove it, then run this again`);
      if (staged(file.path)) return true;
      lost.push(file.path);
      return false;
    });
    if (there.length < files.length) kept.set(batchId, there);
  }
  cursor.database.transaction(() => {
    const save = cursor.statement('UPDATE batches SET files = ? WHERE batch_id = ?');
    for (const [batchId, files] of kept) save.run(JSON.stringify(files), batchId);
    // The manifest does not say so yet.
    if (kept.size > 0) cursor.setMeta('manifest', '');
  })();
  return lost;
}

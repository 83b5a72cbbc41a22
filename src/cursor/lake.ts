/** The files of a lake: staged, moved into place, found again after a crash. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BatchFile, Cursor } from './cursor.ts';

/** Folder of a lake that holds what is sessionlake's own. */
export const OWN_FOLDER = '_sessionlake';
const MANIFEST_VERSION = 1;

export const stageFolder = (lake: string, batchId: string): string => join(lake, OWN_FOLDER, 'stage', batchId);
export const cursorPath = (lake: string): string => join(lake, OWN_FOLDER, 'cursor.db');
export const manifestPath = (lake: string): string => join(lake, OWN_FOLDER, 'manifest.json');

/** A prepared batch cannot be brought to its end. */
export class RecoveryError extends Error {}

/** Makes a rename or a new file durable: its folder is synced. Not every platform can; there it is left to the system. */
export function syncFolder(path: string): void {
  let fd: number | null = null;
  try {
    fd = openSync(path, 'r');
    fsyncSync(fd);
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Writes a file as a whole: temporary name, sync, rename. */
export function writeWhole(path: string, content: string): void {
  const temporary = `${path}.new`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    const bytes = Buffer.from(content, 'utf8');
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

export interface Manifest {
  readonly manifest_version: number;
  readonly kind: 'snapshot' | 'incremental';
  readonly format: string;
  readonly batches: readonly { readonly batch_id: string; readonly files: readonly BatchFile[] }[];
}

export function writeManifest(lake: string, manifest: Omit<Manifest, 'manifest_version'>): void {
  writeWhole(manifestPath(lake), `${JSON.stringify({ manifest_version: MANIFEST_VERSION, ...manifest }, null, 1)}\n`);
}

/** Moves the files of a prepared batch into place; files that are there already were moved before a crash. */
function moveIntoPlace(lake: string, batchId: string, files: readonly BatchFile[]): void {
  const stage = stageFolder(lake, batchId);
  const folders = new Set<string>();
  for (const { path } of files) {
    const from = join(stage, path);
    const to = join(lake, path);
    const folder = dirname(to);
    if (!folders.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    folders.add(folder);
    if (existsSync(from)) renameSync(from, to);
    else if (!existsSync(to))
      throw new RecoveryError(
        `${to} of batch ${batchId} is gone from the stage and from the lake; restore it or reset the cursor`,
      );
  }
  for (const folder of folders) syncFolder(folder);
}

/** Brings prepared batches to their end: files into place, then marked committed, then the manifest. */
export function rollForward(cursor: Cursor, lake: string, format: string): number {
  const prepared = cursor.batches('prepared');
  for (const { batchId, files } of prepared) {
    moveIntoPlace(lake, batchId, files);
    cursor.database.prepare("UPDATE batches SET state = 'committed' WHERE batch_id = ?").run(batchId);
  }
  if (prepared.length > 0 || !existsSync(manifestPath(lake))) {
    const batches = cursor.batches('committed').map(({ batchId, files }) => ({ batch_id: batchId, files }));
    writeManifest(lake, { kind: 'incremental', format, batches });
  }
  return prepared.length;
}

/** Removes what unfinished runs left staged. Only under the lock, and only after `rollForward`. */
export function discardStage(lake: string): void {
  rmSync(join(lake, OWN_FOLDER, 'stage'), { recursive: true, force: true });
}

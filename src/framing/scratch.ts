/** A private folder for what must be copied before it can be read: made when first needed, gone when the process is. */
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { makeFolder } from './make-folder.ts';

const PREFIX = 'sessionlake-copies-';
const NAME = /^sessionlake-copies-(\d+)$/;

let folder: string | null = null;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** What a killed run left behind holds transcripts: it goes when the next run needs such a folder itself. */
function removeOrphans(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = NAME.exec(name)?.[1];
    // Another user's folder cannot be removed, and is not ours to care for.
    if (pid !== undefined && !isAlive(Number(pid))) rmQuietly(join(tmpdir(), name));
  }
}

const rmQuietly = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Nothing depends on it: the folder is private, and the next run tries again.
  }
};

/**
 * The folder of this process, for all its threads. Copies in it are named after what they are copies of, so that one
 * thread finds what another has made.
 */
export function scratchFolder(): string {
  if (folder !== null) return folder;
  const path = join(tmpdir(), `${PREFIX}${process.pid}`);
  removeOrphans();
  makeFolder(path, 0o700);
  folder = path;
  // Commands that read nothing have no run that ends.
  if (isMainThread) process.once('exit', clearScratch);
  return path;
}

/** Removes the copies. For the main thread, when a run is over and no worker reads any more. */
export function clearScratch(): void {
  // Worker threads share the process id, so what they made is known by name here too.
  rmQuietly(join(tmpdir(), `${PREFIX}${process.pid}`));
  folder = null;
}

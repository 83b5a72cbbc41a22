/** Keeps what Node compiles of the program: a short command is mostly compiling. */
import { lstatSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../framing/make-folder.ts';

/**
 * A folder that is this user's alone: what lies in it is run. Not below the home folder, where agents have their stores;
 * null where there cannot be one.
 */
function ownFolder(): string | null {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  const folder = join(tmpdir(), `sessionlake-compiled-${uid}`);
  try {
    makeFolder(folder, 0o700);
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0 ? folder : null;
  } catch {
    // A full or read-only disk: compiled anew every time.
    return null;
  }
}

/** Worker threads find the folder in the environment. A folder that the user named is left as it is. */
export function keepCompiled(): void {
  if (process.env['NODE_COMPILE_CACHE'] !== undefined || process.env['NODE_DISABLE_COMPILE_CACHE'] !== undefined)
    return;
  const folder = ownFolder();
  if (folder === null) return;
  enableCompileCache(folder);
  process.env['NODE_COMPILE_CACHE'] = folder;
}

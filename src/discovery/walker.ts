/** The file system as discovery sees it: links are not followed, what cannot be read is reported and passed by. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  type Dirent,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Entry, FileEntry, SourceFault, Walker } from '../agents/agent.ts';
import { openDatabase, type StoreDatabase } from '../framing/database.ts';
import { ScopedError } from '../framing/errors.ts';

/** Something discovery passed by. */
export interface DiscoveryIssue {
  readonly agent: string;
  readonly path: string;
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
}

const code = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';
const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(code(error));

const typeOf = (entry: Dirent): Entry['type'] | null =>
  entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : null;

export class FileWalker implements Walker {
  readonly issues: DiscoveryIssue[] = [];
  private readonly agent: string;
  private readonly isExcluded: (path: string) => boolean;

  constructor(agent: string, isExcluded: (path: string) => boolean) {
    this.agent = agent;
    this.isExcluded = isExcluded;
  }

  list(path: string): Entry[] {
    let entries: Dirent<Buffer>[];
    try {
      entries = readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      if (!isAbsent(error))
        this.report(
          path,
          'unreadable_folder',
          `the folder cannot be listed (${code(error)}); what is in it was passed by`,
        );
      return [];
    }
    const found: Entry[] = [];
    for (const entry of entries) {
      const name = entry.name.toString('utf8');
      if (!Buffer.from(name, 'utf8').equals(entry.name)) {
        this.report(path, 'undecodable_name', 'an entry whose name is not valid UTF-8 was passed by');
        continue;
      }
      const type = typeOf(entry as unknown as Dirent);
      const child = join(path, name);
      if (type !== null && !this.isExcluded(child)) found.push({ name, path: child, type });
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  isFolder(path: string): boolean {
    return this.look(path)?.isDirectory() ?? false;
  }

  isFile(path: string): boolean {
    return !this.isExcluded(path) && (this.look(path)?.isFile() ?? false);
  }

  realPath(path: string): string {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  }

  read(path: string, maxBytes: number): Buffer | null {
    try {
      const { size } = statSync(path);
      if (size <= maxBytes) return readFileSync(path);
      this.report(
        path,
        'file_too_large',
        `has ${size} bytes, more than such a file should (${maxBytes}); it was passed by`,
      );
    } catch (error) {
      if (!isAbsent(error)) this.report(path, 'unreadable', `cannot be read (${code(error)}); it was passed by`);
    }
    return null;
  }

  head(path: string, bytes: number): Buffer | null {
    if (!this.isFile(path)) return null;
    try {
      const descriptor = openSync(path, 'r');
      try {
        const head = Buffer.allocUnsafe(bytes);
        return head.subarray(0, readSync(descriptor, head, 0, bytes, 0));
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      if (!isAbsent(error)) this.report(path, 'unreadable', `cannot be read (${code(error)}); it was passed by`);
      return null;
    }
  }

  stat(path: string): { size: number; mtimeMs: number } | null {
    const stat = this.look(path);
    return stat === null ? null : { size: stat.size, mtimeMs: stat.mtimeMs };
  }

  tree(paths: readonly string[]): { files: FileEntry[]; bytes: number; state: string } {
    const files: FileEntry[] = [];
    const add = (path: string): void => {
      const stat = this.stat(path);
      if (stat !== null) files.push({ path, ...stat });
    };
    const walk = (folder: string): void => {
      for (const entry of this.list(folder)) {
        if (entry.type === 'folder') walk(entry.path);
        else add(entry.path);
      }
    };
    for (const path of paths) {
      if (this.isFile(path)) add(path);
      else walk(path);
    }
    const state = createHash('sha1');
    let bytes = 0;
    for (const { path, size, mtimeMs } of files) {
      state.update(`${path}\0${size}\0${mtimeMs}\0`);
      bytes += size;
    }
    return { files, bytes, state: state.digest('hex') };
  }

  database<T>(path: string, look: (database: StoreDatabase) => T): { value: T } | { fault: SourceFault } {
    try {
      const database = openDatabase(path);
      try {
        const value = look(database);
        database.checkUnchanged();
        return { value };
      } finally {
        database.close();
      }
    } catch (error) {
      if (!(error instanceof ScopedError) || error.scope === 'run') throw error;
      return { fault: { status: 'failed', code: error.code, message: error.message } };
    }
  }

  passBy(path: string, issueCode: string, message: string): void {
    this.report(path, issueCode, message);
  }

  private look(path: string): Stats | null {
    try {
      return statSync(path);
    } catch (error) {
      if (!isAbsent(error)) this.report(path, 'unreadable', `cannot be looked at (${code(error)}); it was passed by`);
      return null;
    }
  }

  private report(path: string, issueCode: string, message: string): void {
    this.issues.push({ agent: this.agent, path, severity: 'warning', code: issueCode, message });
  }
}

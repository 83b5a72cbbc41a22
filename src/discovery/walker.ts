/** The file system as discovery sees it: links are not followed, what cannot be read is reported and passed by. */
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry, FileEntry, SourceFault, Walker } from '../agents/agent.ts';
import { openDatabase, type StoreDatabase } from '../framing/database.ts';
import { ScopedError } from '../framing/errors.ts';
import { readSmallFile } from '../framing/small-file.ts';

/** Something discovery passed by. */
export interface DiscoveryIssue {
  readonly agent: string;
  readonly path: string;
  /** `info`: what is found in many healthy stores; shown only where somebody asks what was passed by. */
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  readonly message: string;
}

const code = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';
const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(code(error));

const typeOf = (entry: Dirent): Entry['type'] | null =>
  entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : null;

const LINK = ['link', 'is a link; links are not followed: name its target by --root to read it', 'info'] as const;
const SPECIAL = ['not_a_file', 'is neither a file nor a folder; it was passed by', 'info'] as const;
const SMALL_FAULTS = { not_a_file: 'not_a_file', too_large: 'file_too_large', unreadable: 'unreadable' } as const;

export class FileWalker implements Walker {
  readonly issues: DiscoveryIssue[] = [];
  private readonly reported = new Set<string>();
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
      if (this.isExcluded(child)) continue;
      if (type !== null) found.push({ name, path: child, type });
      else if (entry.isSymbolicLink()) this.report(child, ...LINK);
      else this.report(child, ...SPECIAL);
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  isFolder(path: string): boolean {
    return this.look(path)?.isDirectory() ?? false;
  }

  isFile(path: string): boolean {
    const stat = this.isExcluded(path) ? null : this.look(path);
    if (stat === null || stat.isFile()) return stat !== null;
    // A folder may be what is asked for next.
    if (!stat.isDirectory()) this.report(path, ...SPECIAL);
    return false;
  }

  realPath(path: string): string {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  }

  read(path: string, maxBytes: number): Buffer | null {
    return this.small(path, maxBytes, 'all');
  }

  head(path: string, bytes: number): Buffer | null {
    return this.isFile(path) ? this.small(path, bytes, 'head') : null;
  }

  private small(path: string, bytes: number, part: 'all' | 'head'): Buffer | null {
    const file = readSmallFile(path, bytes, part);
    if ('bytes' in file) return file.bytes;
    if (file.fault !== 'absent') this.report(path, SMALL_FAULTS[file.fault], `${file.detail}; it was passed by`);
    return null;
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

  private report(
    path: string,
    issueCode: string,
    message: string,
    severity: DiscoveryIssue['severity'] = 'warning',
  ): void {
    const key = `${issueCode} ${path}`;
    // Folders are listed more than once where several layouts stand in them.
    if (this.reported.has(key)) return;
    this.reported.add(key);
    this.issues.push({ agent: this.agent, path, severity, code: issueCode, message });
  }
}

/** The file system as discovery sees it: links are not followed, what cannot be read is reported and passed by. */
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry, Walker } from '../agents/agent.ts';

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
    return this.stat(path)?.isDirectory() ?? false;
  }

  isFile(path: string): boolean {
    return this.stat(path)?.isFile() ?? false;
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

  private stat(path: string): ReturnType<typeof statSync> | null {
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

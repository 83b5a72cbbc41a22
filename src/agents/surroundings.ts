/** What a definition sees of the machine: places, files and databases, through what is handed to it. */
import type { StoreDatabase } from '../framing/database.ts';

/** What the definition may know about the machine: handed to it, never looked up. */
export interface AgentEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** A folder where an agent's stores may be. It need not exist. */
export interface RootCandidate {
  readonly path: string;
  /** Why it is looked at: `env CODEX_HOME`, `default`, `XDG` … shown to people. */
  readonly reason: string;
  /** The path is a file (a variable names a database): `discover` is given it as it is. */
  readonly isFile?: boolean;
  /** Where this is a folder, the candidate is not looked at: a value that can be read in two ways. */
  readonly unless?: string;
}

export interface Entry {
  readonly name: string;
  /** Absolute path. */
  readonly path: string;
  readonly type: 'file' | 'folder';
}

/**
 * The only way in which a definition touches the file system during discovery. Links are not followed, other entries
 * than files and folders are left out, and what cannot be read is reported as an issue and passed by.
 */
export interface Walker {
  /** Entries of a folder in byte order of their names; empty where it is absent or unreadable (then reported). */
  list(path: string): Entry[];
  /** Whether this is an existing folder (a link at a root itself is followed: the user named it). */
  isFolder(path: string): boolean;
  isFile(path: string): boolean;
  /** Resolves links; the path itself where that fails. For removing doubles. */
  realPath(path: string): string;
  /** Contents of a small file (sidecar, index); null where absent; over `maxBytes` or unreadable: null and reported. */
  read(path: string, maxBytes: number): Buffer | null;
  /** The first `bytes` of a file, or all of it where it is shorter; null where absent, or unreadable (then reported). */
  head(path: string, bytes: number): Buffer | null;
  /** Bytes and modification time (ms since 1970) of a file or folder; null where absent. */
  stat(path: string): { readonly size: number; readonly mtimeMs: number } | null;
  /** All files below folders (or the files given), and a text that changes when one of them does. */
  tree(paths: readonly string[]): {
    readonly files: readonly FileEntry[];
    readonly bytes: number;
    readonly state: string;
  };
  /**
   * Looks into a database (see `framing/database.ts`): what `look` returns, or why it cannot be read. The database is
   * closed when this returns. For lists of sessions, not for their contents.
   */
  database<T>(
    path: string,
    look: (database: StoreDatabase) => T,
  ): { readonly value: T } | { readonly fault: SourceFault };
  /** Reports something that was found and passed by; `code` as in `issues.code`. */
  passBy(path: string, code: string, message: string): void;
}

export interface FileEntry {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Why a source cannot be read, known before it is. */
export interface SourceFault {
  /** `unsupported`: unreadable by design, like a store that its vendor encrypts. */
  readonly status: 'failed' | 'unsupported';
  /** As in `issues.code`. */
  readonly code: string;
  /** For a person; never content. */
  readonly message: string;
}

/** Where Codex keeps its rollouts, and which of the files below a root are sources. */
import { join } from 'node:path';
import type { AgentEnvironment, Entry, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, nameField } from './guards.ts';
import { threadIdOfName } from './header.ts';

/** `$CODEX_HOME` where it is set and not empty, else `~/.codex`, on every platform. */
export function codexRoots({ env, home }: AgentEnvironment): RootCandidate[] {
  const codexHome = env['CODEX_HOME'];
  if (codexHome !== undefined && codexHome !== '') return [{ path: codexHome, reason: 'env CODEX_HOME' }];
  return [{ path: join(home, '.codex'), reason: 'default' }];
}

const ROLLOUT = /^rollout-.+\.jsonl(?:\.zst)?$/;
const LEGACY_DOCUMENT = /^rollout-.+\.json$/;
const MAX_INDEX_BYTES = 256 * 1024 * 1024;
/** `sessions/YYYY/MM/DD`; nothing is looked for deeper. */
const MAX_DEPTH = 3;

/** Names of threads by id: the last line of `session_index.jsonl` with a name that is not blank. */
export function readTitles(index: Buffer | null): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  if (index === null) return titles;
  for (let start = 0; start < index.length; ) {
    const newline = index.indexOf(0x0a, start);
    const end = newline === -1 ? index.length : newline;
    const entry = parseEntry(index.toString('utf8', start, end));
    const id = entry === null ? null : nameField(entry, 'id');
    const name = entry === null ? null : nameField(entry, 'thread_name');
    if (id !== null && name !== null) titles.set(id, name);
    start = end + 1;
  }
  return titles;
}

/** Torn and blank lines name nothing. */
function parseEntry(line: string): ReturnType<typeof asObject> {
  try {
    return asObject(JSON.parse(line));
  } catch {
    return null;
  }
}

function* filesBelow(folder: string, depth: number, walker: Walker): Generator<Entry> {
  for (const entry of walker.list(folder)) {
    if (entry.type === 'file') yield entry;
    else if (depth > 0) yield* filesBelow(entry.path, depth - 1, walker);
  }
}

/** A rollout found below a root, before doubles are removed. */
interface Found {
  readonly path: string;
  /** File name without `.zst`: what the file is called through archiving and compressing. */
  readonly identity: string;
  readonly storeKind: 'codex-jsonl' | 'codex-document';
  readonly isArchived: boolean;
  readonly isCompressed: boolean;
}

function* rolloutsIn(folder: string, isArchived: boolean, walker: Walker): Generator<Found> {
  for (const { name, path } of filesBelow(folder, isArchived ? 0 : MAX_DEPTH, walker)) {
    const isCompressed = name.endsWith('.zst');
    if (ROLLOUT.test(name)) {
      const identity = isCompressed ? name.slice(0, -'.zst'.length) : name;
      yield { path, identity, storeKind: 'codex-jsonl', isArchived, isCompressed };
    } else if (!isArchived && LEGACY_DOCUMENT.test(name))
      yield { path, identity: name, storeKind: 'codex-document', isArchived, isCompressed: false };
  }
}

/** Of two files of one name: the active copy wins over the archived one, then the plain file over the compressed one. */
const isBetter = (one: Found, other: Found): boolean =>
  one.isArchived === other.isArchived ? !one.isCompressed && other.isCompressed : !one.isArchived;

function sourceOf(found: Found, titles: ReadonlyMap<string, string>): SourceSpec {
  const name = found.identity.replace(/\.jsonl?$/, '');
  const title = titles.get(threadIdOfName(name)) ?? null;
  return {
    storeKind: found.storeKind,
    path: found.path,
    identity: found.identity,
    name,
    hints: { title, archived: found.isArchived },
    sidecars: {},
  };
}

/**
 * Rollouts of a root in path order, then its prompt history. Nothing else is opened: the databases, `log/` and
 * `shell_snapshots/` hold no sessions of their own, and `auth.json` is none of anybody's business.
 */
export function* discoverRollouts(root: string, walker: Walker): Generator<SourceSpec> {
  const best = new Map<string, Found>();
  const folders: readonly [string, boolean][] = [
    [join(root, 'sessions'), false],
    [join(root, 'archived_sessions'), true],
  ];
  for (const [folder, isArchived] of folders) {
    if (!walker.isFolder(folder)) continue;
    for (const found of rolloutsIn(folder, isArchived, walker)) {
      const other = best.get(found.identity);
      if (other === undefined || isBetter(found, other)) best.set(found.identity, found);
    }
  }
  const titles =
    best.size === 0 ? readTitles(null) : readTitles(walker.read(join(root, 'session_index.jsonl'), MAX_INDEX_BYTES));
  const byPath = [...best.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const found of byPath) yield sourceOf(found, titles);
  const history = join(root, 'history.jsonl');
  if (walker.isFile(history)) yield historySource(history);
}

const historySource = (path: string): SourceSpec => ({
  storeKind: 'codex-history',
  path,
  identity: 'history.jsonl',
  name: 'history',
  hints: { optIn: 'history' },
  sidecars: {},
});

/** Where Gemini CLI keeps its sessions. */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEnvironment, Entry, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, objectField, parseOrUndefined } from '../dialects/json.ts';

export const LOG_STORE = 'gemini-jsonl';
export const SNAPSHOT_STORE = 'gemini-json';
/** A snapshot that was left to rot when its session was resumed as an event log: read over, but told by the log. */
export const OLD_COPY_STORE = 'gemini-json-superseded';

/** `GEMINI_CLI_HOME` is the parent of `.gemini`; without any home the writer takes the folder for temporary files. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['GEMINI_CLI_HOME']?.trim() ?? '';
  if (named !== '') return [{ path: join(named, '.gemini'), reason: 'env GEMINI_CLI_HOME' }];
  return [{ path: join(home === '' ? tmpdir() : home, '.gemini'), reason: 'default' }];
}

const MAX_INDEX = 4 * 1024 * 1024;

/** Folders of projects by the names below `tmp/`, from `projects.json`. */
function projectFolders(root: string, walker: Walker): ReadonlyMap<string, string> {
  const bytes = walker.read(join(root, 'projects.json'), MAX_INDEX);
  const index = bytes === null ? undefined : parseOrUndefined(bytes.toString('utf8'));
  const projects = asObject(index) === null ? null : objectField(asObject(index)!, 'projects');
  if (bytes !== null && projects === null)
    walker.passBy(join(root, 'projects.json'), 'malformed_json', 'is no index of projects; folders are not told by it');
  const folders = new Map<string, string>();
  for (const [path, slug] of Object.entries(projects ?? {})) {
    if (typeof slug === 'string') folders.set(slug, path);
    // Before slugs, the folder was named after the hash of the project's path.
    folders.set(createHash('sha256').update(path).digest('hex'), path);
  }
  return folders;
}

/** Sessions of all projects: event logs, snapshots, and those of subagents in folders named after their parents. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const folders = projectFolders(root, walker);
  for (const project of walker.list(join(root, 'tmp'))) {
    if (project.type !== 'folder') continue;
    const marker =
      walker
        .read(join(project.path, '.project_root'), 64 * 1024)
        ?.toString('utf8')
        .trim() ?? '';
    const cwd = marker !== '' ? marker : (folders.get(project.name) ?? null);
    const chats = walker.list(join(project.path, 'chats'));
    yield* sessionsIn(chats, { cwd, parent: null }, (stem) => stem.startsWith('session-'));
    for (const parent of chats) {
      if (parent.type !== 'folder') continue;
      yield* sessionsIn(walker.list(parent.path), { cwd, parent: parent.name }, () => true);
    }
  }
}

function* sessionsIn(
  entries: readonly Entry[],
  hints: { readonly cwd: string | null; readonly parent: string | null },
  isSession: (stem: string) => boolean,
): Iterable<SourceSpec> {
  const names = new Set(entries.filter(({ type }) => type === 'file').map(({ name }) => name));
  for (const { name, path, type } of entries) {
    // `*.jsonl.tmp-<pid>` and `*.jsonl.unreadable-<ms>` do not end so.
    const match = /^(.+)\.(jsonl|json)$/.exec(name);
    const stem = match?.[1];
    if (type !== 'file' || stem === undefined || !isSession(stem)) continue;
    const isLog = match?.[2] === 'jsonl';
    const storeKind = isLog ? LOG_STORE : names.has(`${stem}.jsonl`) ? OLD_COPY_STORE : SNAPSHOT_STORE;
    yield { storeKind, path, identity: path, name: stem, hints: { ...hints }, sidecars: {} };
  }
}

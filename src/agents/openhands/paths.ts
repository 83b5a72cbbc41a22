/** Where OpenHands keeps its conversations. */
import { basename, join } from 'node:path';
import type { FolderFile } from '../../framing/folder.ts';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, type Json, nameField, parseOrUndefined } from '../dialects/json.ts';

export const CONVERSATION_STORE = 'openhands-conversation';
export const LEGACY_STORE = 'openhands-session';

/** A folder of conversations, or a folder that holds such folders. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => env[name]?.trim() ?? '';
  const found: RootCandidate[] = [];
  if (value('OPENHANDS_CONVERSATIONS_DIR') !== '')
    found.push({ path: value('OPENHANDS_CONVERSATIONS_DIR'), reason: 'env OPENHANDS_CONVERSATIONS_DIR' });
  for (const name of ['OPENHANDS_PERSISTENCE_DIR', 'OH_PERSISTENCE_DIR', 'FILE_STORE_PATH'])
    if (value(name) !== '') found.push({ path: value(name), reason: `env ${name}` });
  // The variables of the present program replace its folder; the former one's store is its own.
  if (!found.some(({ reason }) => reason.includes('OPENHANDS')))
    found.push({ path: join(home, '.openhands'), reason: 'default' });
  found.push({ path: join(home, '.openhands-state'), reason: 'default' });
  return found;
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const below = join(root, 'conversations');
  const folders = walker.isFolder(below) ? below : root;
  yield* conversations(folders, walker);
  yield* sessions(join(root, 'sessions'), walker);
  for (const user of walker.list(join(root, 'users')))
    if (user.type === 'folder') yield* sessions(join(user.path, 'conversations'), walker);
}

const MAX_META = 1024 * 1024;

function* conversations(folder: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(folder)) {
    if (type !== 'folder') continue;
    const state = join(path, 'base_state.json');
    const events = join(path, 'events');
    if (!walker.isFile(state) && !walker.list(events).some((entry) => EVENT.test(entry.name))) continue;
    const meta = join(path, 'meta.json');
    const { bytes, state: changes } = walker.tree([state, events]);
    yield {
      storeKind: CONVERSATION_STORE,
      path,
      identity: path,
      name,
      hints: { copiedThrough: copiedThrough(events, folder, metaOf(meta, walker), walker) },
      sidecars: walker.isFile(meta) ? { meta } : {},
      state: changes,
      bytes,
    };
  }
}

function metaOf(path: string, walker: Walker): Json | null {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_META) : null;
  return bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
}

const EVENT = /^event-(\d+)-(.+)\.json$/;

/** Highest index of an event whose id is one of the conversation's that this one was forked from; -1 for none. */
function copiedThrough(events: string, folder: string, meta: Json | null, walker: Walker): number {
  const origin = meta === null ? null : nameField(meta, 'forked_from_conversation_id');
  if (origin === null || !/^[0-9a-f-]+$/i.test(origin)) return -1;
  const known = new Set<string>();
  for (const { name } of walker.list(join(folder, origin.replaceAll('-', ''), 'events'))) {
    const id = EVENT.exec(name)?.[2];
    if (id !== undefined) known.add(id);
  }
  let last = -1;
  for (const { name } of walker.list(events)) {
    const match = EVENT.exec(name);
    if (match !== null && known.has(match[2]!)) last = Math.max(last, Number(match[1]));
  }
  return last;
}

function* sessions(folder: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(folder)) {
    const events = join(path, 'events');
    if (type !== 'folder' || !walker.isFolder(events)) continue;
    const { bytes, state } = walker.tree([join(path, 'metadata.json'), events]);
    yield { storeKind: LEGACY_STORE, path, identity: path, name, hints: {}, sidecars: {}, state, bytes };
  }
}

/** The state, then the events in the order of their numbers: names do not sort so. */
export function* conversationFiles(
  { path }: SourceSpec,
  list: (folder: string) => readonly string[],
): Iterable<FolderFile> {
  if (list(path).includes('base_state.json')) yield { path: join(path, 'base_state.json'), locator: 'base_state.json' };
  yield* numbered(join(path, 'events'), EVENT, list);
}

export function* sessionFiles({ path }: SourceSpec, list: (folder: string) => readonly string[]): Iterable<FolderFile> {
  if (list(path).includes('metadata.json')) yield { path: join(path, 'metadata.json'), locator: 'metadata.json' };
  yield* numbered(join(path, 'events'), /^(\d+)\.json$/, list);
}

function* numbered(folder: string, pattern: RegExp, list: (folder: string) => readonly string[]): Iterable<FolderFile> {
  const names = list(folder)
    .map((name) => ({ name, number: Number(pattern.exec(name)?.[1] ?? Number.NaN) }))
    .filter(({ number }) => !Number.isNaN(number))
    .sort((a, b) => a.number - b.number);
  for (const { name } of names) yield { path: join(folder, name), locator: `${basename(folder)}/${name}` };
}

/** Index of an event, as its file is named; -1 for other files. */
export const indexOf = (locator: string): number => Number(EVENT.exec(basename(locator))?.[1] ?? -1);

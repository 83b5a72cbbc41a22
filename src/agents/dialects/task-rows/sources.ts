/** Task folders of Cline and the products made of it: `tasks/<id>/` below the extension's own folder. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../../agent.ts';
import { asObject, type Json, nameField, parseOrUndefined } from '../json.ts';
import { userFolders, VSCODE_PRODUCTS } from '../vscode.ts';

const MAX_INDEX = 64 * 1024 * 1024;

/** The extension's folder in all editors, profiles of editors and remote servers. */
export function extensionRoots(environment: AgentEnvironment, extension: string): RootCandidate[] {
  return userFolders(environment, VSCODE_PRODUCTS, { servers: true }).flatMap(({ path, reason }) => [
    { path: join(path, 'globalStorage', extension), reason },
    { path: join(path, 'profiles'), reason: `${reason}, profiles` },
  ]);
}

/** Facts of tasks by id, from the index that the product keeps; empty where there is none. */
export function readIndex(path: string, walker: Walker): ReadonlyMap<string, Json> {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_INDEX) : null;
  if (bytes === null) return new Map();
  const index = parseOrUndefined(bytes.toString('utf8'));
  if (!Array.isArray(index)) {
    walker.passBy(path, 'malformed_json', 'is no index of tasks; titles and folders are not told by it');
    return new Map();
  }
  const items = index.map(asObject).filter((item) => item !== null);
  return new Map(
    items.flatMap((item) => (nameField(item, 'id') === null ? [] : [[nameField(item, 'id')!, item] as const])),
  );
}

export interface TaskStore {
  readonly storeKind: string;
  readonly extension: string;
  /** The index below the extension's folder; null where the product keeps none. */
  readonly index: string | null;
  /** Older names of the file of rows. */
  readonly oldRows: readonly string[];
  /** What of the index item of a task the decoder needs. */
  readonly hints: (item: Json | null) => SourceSpec['hints'];
}

/** Tasks of one extension folder (or of all profiles in a folder of them). */
export function* taskSources(root: string, walker: Walker, store: TaskStore): Iterable<SourceSpec> {
  if (basename(root) === 'profiles') {
    for (const profile of walker.list(root)) {
      if (profile.type === 'folder')
        yield* tasksIn(join(profile.path, 'globalStorage', store.extension), walker, store);
    }
    return;
  }
  yield* tasksIn(root, walker, store);
}

function* tasksIn(folder: string, walker: Walker, store: TaskStore): Iterable<SourceSpec> {
  const index = store.index === null ? new Map<string, Json>() : readIndex(join(folder, store.index), walker);
  // Old versions kept tasks directly in the folder; the folder of tasks itself may be named.
  for (const tasks of [join(folder, 'tasks'), folder]) {
    for (const { name, path, type } of walker.list(tasks)) {
      if (type !== 'folder') continue;
      const spec = taskSource(path, name, walker, store, index.get(name) ?? null);
      if (spec !== null) yield spec;
    }
  }
}

/** Without its rows a task is told by the history of its requests. */
function taskSource(
  folder: string,
  id: string,
  walker: Walker,
  store: TaskStore,
  item: Json | null,
): SourceSpec | null {
  const has = (name: string): boolean => walker.isFile(join(folder, name));
  const rows = ['ui_messages.json', ...store.oldRows].find(has) ?? null;
  const history =
    ['api_conversation_history.json', ...(store.oldRows.length === 0 ? ['claude_messages.json'] : [])].find(has) ??
    null;
  const main = rows ?? history;
  if (main === null) return null;
  const files = [main, history, 'history_item.json'].filter((name) => name !== null).map((name) => join(folder, name));
  const { bytes, state } = walker.tree([...new Set(files)].filter((path) => walker.isFile(path)));
  return {
    storeKind: store.storeKind,
    path: join(folder, main),
    identity: join(folder, 'ui_messages.json'),
    name: id,
    hints: { ...store.hints(item), rows, history },
    sidecars: has('history_item.json') ? { item: join(folder, 'history_item.json') } : {},
    state,
    bytes,
  };
}

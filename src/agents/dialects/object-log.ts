/** Replays a log of changes to one JSON object: VS Code's chat sessions (objectMutationLog, kinds 0 to 3). */
import { recordError } from '../../framing/errors.ts';
import { asObject, field, type Json } from './json.ts';

type Path = readonly (string | number)[];

/** Keys that would reach the prototype instead of the object are set as own properties. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

export class ObjectLog {
  /** undefined before the first full state. */
  state: unknown;

  /** Applies an entry. Throws a record-scoped error where it does not fit the state; the state stays as it was. */
  apply(entry: unknown): void {
    const record = asObject(entry);
    const kind = record === null ? undefined : field(record, 'kind');
    if (record === null || typeof kind !== 'number' || kind < 0 || kind > 3) {
      throw recordError('unknown_entry', 'the entry is of no known kind');
    }
    if (kind === 0) {
      this.state = field(record, 'v');
      return;
    }
    const path = field(record, 'k');
    if (!Array.isArray(path)) throw recordError('bad_path', 'the entry has no path');
    if (path.length === 0) return;
    const parent = this.parentOf(path as Path);
    const key = path[path.length - 1] as string | number;
    if (kind === 1) set(parent, key, record);
    else if (kind === 2) push(parent, key, record);
    else remove(parent, key);
  }

  private parentOf(path: Path): Record<string, unknown> | unknown[] {
    let at: unknown = this.state;
    for (const key of path.slice(0, -1)) at = member(at, key);
    if (typeof at !== 'object' || at === null) throw recordError('bad_path', 'the path of the entry leads nowhere');
    const last = path[path.length - 1];
    if (Array.isArray(at) !== (typeof last === 'number'))
      throw recordError('bad_path', 'the path of the entry does not fit the state');
    return at as Record<string, unknown> | unknown[];
  }
}

function member(container: unknown, key: string | number): unknown {
  if (Array.isArray(container)) return typeof key === 'number' ? container[key] : undefined;
  if (typeof container !== 'object' || container === null || typeof key !== 'string') return undefined;
  return Object.hasOwn(container, key) ? (container as Json)[key] : undefined;
}

function put(container: Record<string, unknown> | unknown[], key: string | number, value: unknown): void {
  if (Array.isArray(container)) {
    const index = key as number;
    // A hole of millions of elements would be made by a single number.
    if (!Number.isInteger(index) || index < 0 || index > container.length)
      throw recordError('bad_path', 'the entry sets an element far behind the list');
    container[index] = value;
  } else setOwn(container, key as string, value);
}

function set(container: Record<string, unknown> | unknown[], key: string | number, record: Json): void {
  // Without a value: undefined, which makes the key absent.
  if (Object.hasOwn(record, 'v')) put(container, key, record['v']);
  else if (Array.isArray(container)) put(container, key, undefined);
  else delete container[key as string];
}

/** With `i` the list is cut there first: what stood behind it is gone. */
function push(container: Record<string, unknown> | unknown[], key: string | number, record: Json): void {
  const before = member(container, key);
  if (before !== undefined && before !== null && !Array.isArray(before))
    throw recordError('bad_path', 'the entry pushes to what is no list');
  const list: unknown[] = Array.isArray(before) ? before : [];
  const from = field(record, 'i');
  if (typeof from === 'number' && from >= 0 && from < list.length) list.length = from;
  const items = field(record, 'v');
  if (Array.isArray(items)) for (const item of items) list.push(item);
  if (list !== before) put(container, key, list);
}

function remove(container: Record<string, unknown> | unknown[], key: string | number): void {
  if (Array.isArray(container)) container.splice(key as number, 1);
  else delete container[key as string];
}

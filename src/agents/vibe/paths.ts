/** Where Vibe keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, type Json, nameField, parseOrUndefined } from '../dialects/json.ts';
import { factsOf } from './meta.ts';

export const SESSION_STORE = 'vibe-jsonl';
export const OLD_STORE = 'vibe-json';

const expanded = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;

export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['VIBE_HOME']?.trim() ?? '';
  return named === ''
    ? [{ path: join(home, '.vibe'), reason: 'default' }]
    : [{ path: expanded(named, home), reason: 'env VIBE_HOME' }];
}

const MAX_META = 64 * 1024 * 1024;

/** A session's folder, and the session whose folder it stands in. */
interface Found {
  readonly folder: string;
  readonly name: string;
  readonly meta: Json | null;
  readonly enclosing: string | null;
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const sessions = join(root, 'logs', 'session');
  const found: Found[] = [];
  for (const { name, path, type } of walker.list(sessions)) {
    if (type === 'folder' && !name.startsWith('.')) collect(path, name, null, walker, found);
    else if (type === 'file' && /^session_.*\.json$/.test(name))
      yield {
        storeKind: OLD_STORE,
        path,
        identity: path,
        name: name.slice(0, -'.json'.length),
        hints: {},
        sidecars: {},
      };
  }
  // Totals of a session that goes on from another one contain the other's.
  const byId = new Map(
    found.flatMap(({ meta }) => (meta === null ? [] : [[nameField(meta, 'session_id') ?? '', meta] as const])),
  );
  for (const { folder, name, meta, enclosing } of found) {
    const parent = meta === null ? null : nameField(meta, 'parent_session_id');
    const path = join(folder, 'messages.jsonl');
    yield {
      storeKind: SESSION_STORE,
      path,
      identity: path,
      name,
      hints: factsOf(meta, name, parent === null ? null : (byId.get(parent) ?? null), enclosing),
      sidecars: {},
    };
  }
}

function collect(folder: string, name: string, enclosing: string | null, walker: Walker, found: Found[]): void {
  const path = join(folder, 'meta.json');
  const bytes = walker.isFile(path) ? walker.read(path, MAX_META) : null;
  const meta = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && meta === null)
    walker.passBy(path, 'malformed_json', 'does not parse; title, folder and usage are not told by it');
  if (walker.isFile(join(folder, 'messages.jsonl'))) found.push({ folder, name, meta, enclosing });
  const id = (meta === null ? null : nameField(meta, 'session_id')) ?? name;
  for (const agent of walker.list(join(folder, 'agents'))) {
    if (agent.type === 'folder') collect(agent.path, agent.name, id, walker, found);
  }
}

/** Where Windsurf keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { workspaceFolder } from '../copilot/paths.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import type { StoreSchema } from '../dialects/schema.ts';
import { configHome } from '../dialects/vscode.ts';
import { listSessions } from './storage.ts';

export const PANEL_STORE = 'windsurf-vscdb';
export const SEALED_STORE = 'windsurf-cascade';

/** Every state database of the editor has it. */
const SCHEMA: StoreSchema = { product: 'Windsurf', layouts: [{ tables: { ItemTable: ['key', 'value'] } }] };

const PRODUCTS = ['Windsurf', 'Windsurf - Next'];

export function roots(environment: AgentEnvironment): RootCandidate[] {
  const base = configHome(environment);
  return [
    ...PRODUCTS.map((product) => ({ path: join(base, product, 'User'), reason: `default (${product})` })),
    { path: join(environment.home, '.codeium', 'windsurf'), reason: 'Cascade' },
  ];
}

/** A root is a `User` folder or that of Cascade. The product's own state.vscdb holds what the screen looks like. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  yield* sealed(join(root, 'cascade'), walker);
  for (const { name, path: folder, type } of walker.list(join(root, 'workspaceStorage'))) {
    const path = join(folder, 'state.vscdb');
    if (type !== 'folder' || !walker.isFile(path)) continue;
    const cwd = workspaceFolder(join(folder, 'workspace.json'), walker);
    const list: typeof listSessions = (database) => listSessions(database, name);
    for (const spec of databaseSources(walker, { storeKind: PANEL_STORE, path, schema: SCHEMA }, list))
      yield { ...spec, hints: { ...spec.hints, cwd } };
  }
}

/** Unreadable by design, but they show that there are conversations. */
function* sealed(folder: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(folder)) {
    const stem = /^(.+)\.pb$/.exec(name)?.[1];
    if (type !== 'file' || stem === undefined) continue;
    yield {
      storeKind: SEALED_STORE,
      path,
      identity: path,
      name: stem,
      hints: {},
      sidecars: {},
      fault: {
        status: 'unsupported',
        code: 'encrypted_store',
        message: 'is encrypted by its vendor and cannot be read',
      },
    };
  }
}

/** Of a session that stands in several places: the one under the first key, then in the first path. */
export function choose(sources: readonly SourceSpec[]): readonly SourceSpec[] {
  const best = new Map<string, SourceSpec>();
  const isBefore = (a: SourceSpec, b: SourceSpec): boolean => {
    const order = Number(a.hints['key']) - Number(b.hints['key']);
    return order === 0 ? a.path < b.path : order < 0;
  };
  const isSession = (source: SourceSpec): boolean => source.member !== undefined && source.hints['isDamaged'] !== true;
  for (const source of sources.filter(isSession)) {
    const other = best.get(source.name);
    if (other === undefined || isBefore(source, other)) best.set(source.name, source);
  }
  const isKept = (source: SourceSpec): boolean => !isSession(source) || best.get(source.name) === source;
  const told = new Set(sources.filter(isKept).map(({ path }) => path));
  return sources.flatMap((source) => {
    if (isKept(source)) return [source];
    if (told.has(source.path)) return [];
    // Its database is still read, and told as such where nothing else of it is.
    told.add(source.path);
    const { member: _member, ...rest } = source;
    return [{ ...rest, state: 'superseded' }];
  });
}

/** Where Trae keeps its sessions. */
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import { userFolders } from '../dialects/vscode.ts';
import { listSessions, schema } from './storage.ts';

export const STORAGE_STORE = 'trae-vscdb';
export const SEALED_STORE = 'trae-sealed';

const PRODUCTS = ['Trae', 'Trae CN', 'TRAE SOLO CN'];

export const roots = (environment: AgentEnvironment): RootCandidate[] => userFolders(environment, PRODUCTS);

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const workspace of walker.list(join(root, 'workspaceStorage'))) {
    if (workspace.type !== 'folder') continue;
    const bytes = walker.read(join(workspace.path, 'workspace.json'), 1024 * 1024);
    const facts = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
    yield* sessionsIn(
      join(workspace.path, 'state.vscdb'),
      facts === null ? null : folderOf(nameField(facts, 'folder')),
      true,
      walker,
    );
  }
  yield* sessionsIn(join(root, 'globalStorage', 'state.vscdb'), null, false, walker);
  yield* sealed(join(dirname(root), 'ModularData', 'ai-agent', 'database.db'), walker);
}

function* sessionsIn(path: string, cwd: string | null, inWorkspace: boolean, walker: Walker): Iterable<SourceSpec> {
  if (!walker.isFile(path)) return;
  for (const spec of databaseSources(walker, { storeKind: STORAGE_STORE, path, schema }, listSessions)) {
    yield { ...spec, hints: { ...spec.hints, cwd, inWorkspace } };
  }
}

/** The newer store: unreadable by design, but it shows that there is more. */
function* sealed(path: string, walker: Walker): Iterable<SourceSpec> {
  if (!walker.isFile(path)) return;
  const head = headOf(path);
  if (head === null || head.length < 16) return;
  const whole = { storeKind: SEALED_STORE, path, identity: path, name: '', hints: {}, sidecars: {} };
  const isPlain = head.toString('latin1') === 'SQLite format 3\0';
  yield isPlain
    ? {
        ...whole,
        fault: { status: 'failed', code: 'foreign_schema', message: 'is a database of a schema that is not known' },
      }
    : {
        ...whole,
        fault: {
          status: 'unsupported',
          code: 'encrypted_store',
          message: 'is encrypted by its vendor and cannot be read',
        },
      };
}

function headOf(path: string): Buffer | null {
  try {
    const fd = openSync(path, 'r');
    try {
      const head = Buffer.alloc(16);
      return head.subarray(0, readSync(fd, head, 0, head.length, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    // Its reading as a source would say why; of a store that nobody can read, nothing is lost.
    return null;
  }
}

/** Of a session in two stores: the one with more messages, then the one that was written last, then a workspace's. */
export function choose(sources: readonly SourceSpec[]): readonly SourceSpec[] {
  const best = new Map<string, SourceSpec>();
  const rank = (source: SourceSpec, key: string): number => Number(source.hints[key] ?? 0);
  const isBetter = (a: SourceSpec, b: SourceSpec): boolean => {
    for (const key of ['messages', 'updated', 'inWorkspace'])
      if (rank(a, key) !== rank(b, key)) return rank(a, key) > rank(b, key);
    return false;
  };
  for (const source of sources) {
    if (source.member === undefined) continue;
    const other = best.get(source.name);
    if (other === undefined || isBetter(source, other)) best.set(source.name, source);
  }
  return sources.flatMap((source) => {
    if (source.member === undefined || best.get(source.name) === source) return [source];
    // Its database is still read, and told as such where no other session of it is.
    const hasOther = sources.some((other) => other.path === source.path && best.get(other.name) === other);
    if (hasOther) return [];
    const { member: _member, ...rest } = source;
    return [{ ...rest, state: 'superseded' }];
  });
}

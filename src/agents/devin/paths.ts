/** Where Devin keeps its sessions. */
import { dirname, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { type DatabaseMember, databaseSources } from '../dialects/database-sources.ts';
import { listSessions, schema } from './sessions.ts';

export const DATABASE_STORE = 'devin-database';
export const TRANSCRIPT_STORE = 'devin-atif';

/** The second name is that of older versions. */
const DATABASES = ['sessions.db', 'cli_sessions.db'];

export function roots({ env, home, platform }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => env[name]?.trim() ?? '';
  if (value('CHISEL_SESSION_DB') !== '')
    return [{ path: value('CHISEL_SESSION_DB'), reason: 'env CHISEL_SESSION_DB', isFile: true }];
  if (platform === 'win32')
    return [{ path: join(value('APPDATA') || join(home, 'AppData', 'Roaming'), 'devin', 'cli'), reason: 'default' }];
  const xdg = value('XDG_DATA_HOME');
  const found: RootCandidate[] = [
    {
      path: join(xdg || join(home, '.local', 'share'), 'devin', 'cli'),
      reason: xdg === '' ? 'default' : 'env XDG_DATA_HOME',
    },
  ];
  if (platform === 'darwin')
    found.push({ path: join(home, 'Library', 'Application Support', 'devin', 'cli'), reason: 'default' });
  return found;
}

/** A root is the database, its folder, or the folder above that. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  if (walker.isFile(root)) {
    yield* storeOf([root], dirname(root), walker);
    return;
  }
  for (const folder of [root, join(root, 'cli')])
    yield* storeOf(
      DATABASES.map((name) => join(folder, name)),
      folder,
      walker,
    );
}

function* storeOf(databases: readonly string[], folder: string, walker: Walker): Iterable<SourceSpec> {
  const exported = new Map<string, string>();
  for (const { name, path, type } of walker.list(join(folder, 'transcripts'))) {
    const stem = /^(.+)\.json$/.exec(name)?.[1];
    if (type === 'file' && stem !== undefined) exported.set(stem, path);
  }
  /** Sessions that a database tells: exports of these are mirrors. */
  const told = new Set<string>();
  const facts = new Map<string, DatabaseMember>();
  for (const path of databases) {
    if (!walker.isFile(path)) continue;
    const specs = databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, (database) => {
      const members = listSessions(database);
      for (const member of members) facts.set(member.member, facts.get(member.member) ?? member);
      return members;
    });
    for (const spec of specs) {
      if (spec.fault !== undefined) {
        // What it holds is not known: exports may be mirrors of it.
        yield spec;
        return;
      }
      if (spec.member === undefined) yield spec;
      else if ((spec.hints['nodes'] !== 0 || !exported.has(spec.member)) && !told.has(spec.member)) {
        told.add(spec.member);
        yield spec;
      }
    }
  }
  for (const [stem, path] of exported) {
    if (told.has(stem)) continue;
    const { cwd = null, title = null } = facts.get(stem)?.hints ?? {};
    yield { storeKind: TRANSCRIPT_STORE, path, identity: path, name: stem, hints: { cwd, title }, sidecars: {} };
  }
}

/** Where Hermes keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { listSessions, schema } from './sessions.ts';

export const DATABASE_STORE = 'hermes-database';
export const SNAPSHOT_STORE = 'hermes-json';
export const LOG_STORE = 'hermes-jsonl';

export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['HERMES_HOME']?.trim() ?? '';
  return [
    named === '' ? { path: join(home, '.hermes'), reason: 'default' } : { path: named, reason: 'env HERMES_HOME' },
  ];
}

/** A home, and the profiles in it, which are homes too. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  yield* storeOf(root, walker);
  for (const { path, type } of walker.list(join(root, 'profiles'))) if (type === 'folder') yield* storeOf(path, walker);
}

/**
 * Files were mirrors of what the database holds, and are left to go stale: they count for sessions without a row. Of two
 * files the transcript stands for the snapshot.
 */
function* storeOf(home: string, walker: Walker): Iterable<SourceSpec> {
  const path = join(home, 'state.db');
  const told = new Set<string>();
  if (walker.isFile(path)) {
    for (const spec of databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listSessions)) {
      yield spec;
      // What it holds is not known: files may be mirrors of it.
      if (spec.fault !== undefined) return;
      if (spec.member !== undefined) told.add(spec.member);
    }
  }
  const files = walker.list(join(home, 'sessions')).filter(({ type }) => type === 'file');
  for (const [storeKind, pattern] of [
    [LOG_STORE, /^(?!request_dump_)(.+)\.jsonl$/],
    [SNAPSHOT_STORE, /^session_(.+)\.json$/],
  ] as const) {
    for (const { name, path: file } of files) {
      const id = pattern.exec(name)?.[1];
      if (id === undefined || told.has(id)) continue;
      told.add(id);
      yield { storeKind, path: file, identity: file, name: id, hints: {}, sidecars: {} };
    }
  }
}

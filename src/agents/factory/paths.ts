/** Where Droid keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, type Json, objectField, parseOrUndefined } from '../dialects/json.ts';
import { type Totals, totalsOf } from './totals.ts';

export const SESSION_STORE = 'factory-jsonl';

/** The variable replaces the home folder. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['FACTORY_HOME_OVERRIDE']?.trim() ?? '';
  return named === ''
    ? [{ path: join(home, '.factory'), reason: 'default' }]
    : [{ path: join(named, '.factory'), reason: 'env FACTORY_HOME_OVERRIDE' }];
}

const MAX_SETTINGS = 16 * 1024 * 1024;
const SUFFIX = '.jsonl';

/** Files directly in the folder (old versions), and in folders of projects. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const sessions = join(root, 'sessions');
  const entries = walker.list(sessions);
  yield* sessionsIn(sessions, entries, walker);
  for (const { path, type } of entries) if (type === 'folder') yield* sessionsIn(path, walker.list(path), walker);
}

function* sessionsIn(folder: string, entries: ReturnType<Walker['list']>, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of entries) {
    if (type !== 'file' || !name.endsWith(SUFFIX)) continue;
    const id = name.slice(0, -SUFFIX.length);
    const settings = settingsOf(join(folder, `${id}.settings.json`), walker);
    const totals = settings === null ? null : objectField(settings, 'tokenUsage');
    const head =
      settings === null
        ? {}
        : { model: textOf(settings, 'model'), lockedAt: textOf(settings, 'providerLockTimestamp') };
    const branch = settings === null ? null : textOf(objectField(settings, 'worktree') ?? {}, 'branch');
    yield {
      storeKind: SESSION_STORE,
      path,
      identity: path,
      name: id,
      hints: { ...head, branch, totals: totals === null ? null : JSON.stringify(totalsOf(totals)) },
      sidecars: {},
    };
  }
}

const textOf = (object: Json, key: string): string | null =>
  typeof object[key] === 'string' ? (object[key] as string) : null;

function settingsOf(path: string, walker: Walker): Json | null {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_SETTINGS) : null;
  const settings = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && settings === null)
    walker.passBy(path, 'malformed_json', 'does not parse; usage of its session is not told by it');
  return settings;
}

/** Of a session in two folders, the longer transcript tells it, with the larger of each total. */
export function choose(sources: readonly SourceSpec[], walker: Walker): readonly SourceSpec[] {
  const byId = new Map<string, SourceSpec[]>();
  for (const source of sources) byId.set(source.name, [...(byId.get(source.name) ?? []), source]);
  return [...byId.values()].map((group) => {
    const [first] = group;
    if (group.length === 1) return first!;
    const size = (source: SourceSpec): number => walker.stat(source.path)?.size ?? 0;
    const best = group.reduce((a, b) => (size(b) > size(a) ? b : a));
    const totals = group.flatMap(({ hints }) =>
      typeof hints['totals'] === 'string' ? [JSON.parse(hints['totals']) as Totals] : [],
    );
    return totals.length < 2 ? best : { ...best, hints: { ...best.hints, totals: JSON.stringify(largest(totals)) } };
  });
}

const largest = (all: readonly Totals[]): Totals =>
  all.reduce(
    (a, b) =>
      Object.fromEntries(
        Object.keys(a).map((key) => [key, Math.max(Number(a[key] ?? 0), Number(b[key] ?? 0))]),
      ) as Totals,
  );

/** Where stores are: roots, exclusions, and the list of sources in reading order. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec } from '../agents/agent.ts';
import { sourceId } from '../records/identity.ts';
import { UsageError } from '../usage-error.ts';
import { type DiscoveryIssue, FileWalker } from './walker.ts';

export interface DiscoveryRequest {
  readonly agents: readonly AgentDefinition[];
  readonly environment: AgentEnvironment;
  /** Roots given by hand, by slug: they replace an agent's own ones; there is no fallback to those. */
  readonly roots: Readonly<Record<string, readonly string[]>>;
  /** Literal paths that are passed by with all below them; absolute and existing (see `resolveExclusions`). */
  readonly exclude: readonly string[];
  readonly host: string;
  /** Whether sources of opt-in tables (prompt history) are wanted. */
  readonly optIn: ReadonlySet<string>;
}

/** What became of a root candidate. */
export type RootState = 'read' | 'absent' | 'no_folder' | 'relative' | 'excluded' | 'same_as_before' | 'other_reading';

export interface FoundRoot {
  readonly path: string;
  readonly reason: string;
  readonly exists: boolean;
  readonly state: RootState;
}

/** A source that was found and is none of this run's, by rule and not for a fault. */
export interface LeftOut {
  readonly agent: string;
  readonly path: string;
  /**
   * `same_source`: another file stands for it; `other_store`: another store of the agent tells its session;
   * `not_asked_for`: it belongs to an opt-in table.
   */
  readonly code: 'same_source' | 'other_store' | 'not_asked_for';
  /** The file that stands for it, or the table; null where the agent's rule does not say. */
  readonly by: string | null;
}

export interface FoundSource {
  readonly agent: AgentDefinition;
  readonly spec: SourceSpec;
  readonly sourceId: string;
  readonly root: string;
  /** null where it vanished since it was listed. */
  readonly size: number | null;
  readonly mtimeMs: number | null;
  readonly inode: number | null;
  readonly ctimeMs: number | null;
  /** Sizes and times of the sidecars, in one text. */
  readonly sidecarState: string;
}

export interface Discovery {
  /** By agent, then path: the order in which rows stand. */
  readonly sources: readonly FoundSource[];
  readonly roots: ReadonlyMap<string, readonly FoundRoot[]>;
  readonly issues: readonly DiscoveryIssue[];
  readonly leftOut: readonly LeftOut[];
}

/** Makes the walker of an agent: for whoever wants to see what is looked at. */
export type MakeWalker = (agent: string, isExcluded: (path: string) => boolean) => FileWalker;

/**
 * Exclusions as absolute real paths. Throws a `RangeError` that names an entry that does not exist: an exclusion that
 * excludes nothing would let through what somebody wanted kept out.
 */
export function resolveExclusions(entries: readonly string[], home: string): string[] {
  return entries.map((entry) => {
    const expanded = entry === '~' || entry.startsWith('~/') ? home + entry.slice(1) : entry;
    try {
      return realpathSync(resolve(expanded));
    } catch (error) {
      throw new RangeError(
        `--exclude ${entry}: cannot be resolved (${(error as NodeJS.ErrnoException).code}); nothing was read`,
      );
    }
  });
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const statSource = (path: string): { size: number; mtimeMs: number; ctimeMs: number; inode: number } | null => {
  try {
    const stat = statSync(path);
    return { size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, inode: stat.ino };
  } catch {
    return null;
  }
};

const sidecarState = (spec: SourceSpec): string =>
  Object.entries(spec.sidecars)
    .map(([name, path]) => {
      const stat = statSource(path);
      return `${name}:${stat === null ? '-' : `${stat.size}:${stat.mtimeMs}`}`;
    })
    .join(' ');

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const specsOf = (found: readonly FoundSource[]): SourceSpec[] => found.map(({ spec }) => spec);

function chosen(found: readonly FoundSource[], specs: readonly SourceSpec[]): FoundSource[] {
  const byIdentity = new Map(found.map((source) => [source.spec.identity, source]));
  return specs.map((spec) => ({ ...byIdentity.get(spec.identity)!, spec }));
}

function rootsOf(agent: AgentDefinition, request: DiscoveryRequest): RootCandidate[] {
  const given = request.roots[agent.slug];
  if (given !== undefined) return given.map((path) => ({ path: resolve(path), reason: '--root' }));
  return agent.roots(request.environment);
}

/** How far above a file that was named the root of its store is looked for. */
const MAX_LEVELS = 10;

/**
 * The source that a file named by hand is: found by listing the store above it, so that a file means the same whether
 * its store or it alone is named. Throws a `RangeError` where it is no store file of the agent.
 */
function oneFile(agent: AgentDefinition, path: string, walker: FileWalker): SourceSpec[] {
  // An agent that takes single files, whatever they are called.
  const direct = [...agent.discover(path, walker)];
  if (direct.length > 0) return direct;
  let folder = dirname(path);
  for (let level = 0; level < MAX_LEVELS && dirname(folder) !== folder; level++, folder = dirname(folder)) {
    const specs = [...agent.discover(folder, walker)].filter((spec) => spec.path === path);
    if (specs.length > 0) return specs;
  }
  throw new RangeError(
    `--root ${agent.slug}=${path}: is no store file of ${agent.name} (by its name and the folders above it)`,
  );
}

/** Lists the sources of the agents. Touches nothing but folder listings, file times and small indexes. */
export function discover(
  request: DiscoveryRequest,
  makeWalker: MakeWalker = (agent, isExcluded) => new FileWalker(agent, isExcluded),
): Discovery {
  const sources: FoundSource[] = [];
  const roots = new Map<string, FoundRoot[]>();
  const issues: DiscoveryIssue[] = [];
  const leftOut: LeftOut[] = [];
  for (const agent of [...request.agents].sort((a, b) => (a.slug < b.slug ? -1 : 1))) {
    const isExcluded = (path: string): boolean => request.exclude.some((folder) => isWithin(path, folder));
    let root = { path: '', real: '' };
    // Exclusions are real paths; a root may be reached over a link.
    const walker = makeWalker(
      agent.slug,
      (path) => isExcluded(path) || isExcluded(root.real + path.slice(root.path.length)),
    );
    const found: FoundRoot[] = [];
    const seenRoots = new Set<string>();
    const seenIds = new Map<string, string>();
    const ofAgent: FoundSource[] = [];
    for (const { path, reason, unless, isFile } of rootsOf(agent, request)) {
      if (!isAbsolute(path)) {
        // A relative value of a variable is relative to nothing that a later run could know.
        found.push({ path, reason, exists: false, state: 'relative' });
        continue;
      }
      const exists = walker.isFolder(path) || ((reason === '--root' || isFile === true) && walker.isFile(path));
      const real = walker.realPath(path);
      const state = ((): RootState => {
        if (unless !== undefined && walker.isFolder(unless)) return 'other_reading';
        if (!exists) return statSource(path) === null ? 'absent' : 'no_folder';
        if (isExcluded(real)) return 'excluded';
        return seenRoots.has(real) ? 'same_as_before' : 'read';
      })();
      found.push({ path, reason, exists: exists && state !== 'other_reading', state });
      if (state !== 'read') continue;
      seenRoots.add(real);
      root = { path, real };
      const specs =
        isFile === true || walker.isFolder(path) ? agent.discover(path, walker) : oneFile(agent, path, walker);
      for (const spec of specs) {
        const optIn = spec.hints['optIn'];
        if (typeof optIn === 'string' && !request.optIn.has(optIn)) {
          leftOut.push({ agent: agent.slug, path: spec.path, code: 'not_asked_for', by: optIn });
          continue;
        }
        const id = sourceId(request.host, agent.slug, spec.identity);
        const before = seenIds.get(id);
        if (before !== undefined) {
          leftOut.push({ agent: agent.slug, path: spec.path, code: 'same_source', by: before });
          continue;
        }
        seenIds.set(id, spec.path);
        const stat = statSource(spec.path);
        ofAgent.push({
          agent,
          spec,
          sourceId: id,
          root: path,
          size: spec.bytes ?? stat?.size ?? null,
          mtimeMs: stat?.mtimeMs ?? null,
          inode: stat?.inode ?? null,
          ctimeMs: stat?.ctimeMs ?? null,
          sidecarState: sidecarState(spec),
        });
      }
    }
    const read = agent.choose === undefined ? ofAgent : chosen(ofAgent, agent.choose(specsOf(ofAgent), walker));
    const kept = new Set(read.map((source) => source.sourceId));
    for (const { spec, sourceId: id } of ofAgent)
      if (!kept.has(id)) leftOut.push({ agent: agent.slug, path: spec.path, code: 'other_store', by: null });
    read.sort((a, b) => compare(a.spec.path, b.spec.path) || compare(a.spec.member ?? '', b.spec.member ?? ''));
    sources.push(...read);
    roots.set(agent.slug, found);
    issues.push(...walker.issues);
  }
  return { sources, roots, issues, leftOut };
}

/**
 * Lists the sources. Throws a `UsageError` where a root that was given by hand is not there, or is not what it was given
 * for: that is a mistake in the arguments.
 */
export function discoverChecked(request: DiscoveryRequest): Discovery {
  const discovery = (() => {
    try {
      return discover(request);
    } catch (error) {
      throw error instanceof RangeError ? new UsageError(error.message) : error;
    }
  })();
  for (const slug of Object.keys(request.roots)) {
    for (const root of discovery.roots.get(slug) ?? []) {
      if (!root.exists) throw new UsageError(`--root ${slug}=${root.path}: there is no such folder or file`);
    }
  }
  return discovery;
}

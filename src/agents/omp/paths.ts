/** Where Oh My Pi keeps its sessions. */
import { basename, dirname, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { parseIsoTime } from '../dialects/clock.ts';
import { field, nameField, stringField } from '../dialects/json.ts';
import { type Head, readHead } from '../pi_agent/header.ts';
import { expanded, sessionFile } from '../pi_agent/paths.ts';

export const SESSION_STORE = 'omp-jsonl';
const SUFFIX = '.jsonl';
const MAX_DEPTH = 12;

/** Folders of the product, and folders of sessions that variables name: whichever exist. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => expanded(env[name]?.trim() ?? '', home);
  const found: RootCandidate[] = [
    {
      path: join(home, value('PI_CONFIG_DIR') || '.omp'),
      reason: value('PI_CONFIG_DIR') === '' ? 'default' : 'env PI_CONFIG_DIR',
    },
  ];
  if (value('XDG_DATA_HOME') !== '') found.push({ path: join(value('XDG_DATA_HOME'), 'omp'), reason: 'XDG' });
  // pi reads these two as well: in a folder of sessions, only files with a title line are Oh My Pi's.
  if (value('PI_CODING_AGENT_SESSION_DIR') !== '')
    found.push({ path: value('PI_CODING_AGENT_SESSION_DIR'), reason: 'env PI_CODING_AGENT_SESSION_DIR' });
  if (value('PI_CODING_AGENT_DIR') !== '')
    found.push({ path: join(value('PI_CODING_AGENT_DIR'), 'sessions'), reason: 'env PI_CODING_AGENT_DIR' });
  return found;
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const profiles = join(root, 'profiles');
  const homes = [root, ...walker.list(profiles).map(({ path }) => path)];
  const folders = homes
    .flatMap((home) => [join(home, 'agent', 'sessions'), join(home, 'sessions')])
    .filter((folder) => walker.isFolder(folder));
  if (folders.length > 0) {
    for (const folder of folders) yield* sessionsBelow(folder, null, walker, 0, false);
  } else yield* sessionsBelow(root, null, walker, 0, !root.split(/[\\/]/).includes('.omp'));
}

/** `parent` is the session whose folder this is; null = a folder of sessions. */
function* sessionsBelow(
  folder: string,
  parent: string | null,
  walker: Walker,
  depth: number,
  needsTitle: boolean,
): Iterable<SourceSpec> {
  const entries = walker.list(folder);
  const stems = new Set(entries.filter(isSession).map(({ name }) => name.slice(0, -SUFFIX.length)));
  const parentId = parent === null ? null : idOf(readHead(parent, walker));
  for (const entry of entries) {
    const { name, path, type } = entry;
    if (type === 'folder') {
      if (depth < MAX_DEPTH && name !== 'btw-history')
        yield* sessionsBelow(path, stems.has(name) ? path + SUFFIX : parent, walker, depth + 1, needsTitle);
    } else if (isSession(entry) && (!needsTitle || hasTitle(readHead(path, walker)))) {
      const hasAgents = walker
        .list(path.slice(0, -SUFFIX.length))
        .some((child) => isSession(child) && !child.name.startsWith('__advisor'));
      yield sessionFile(SESSION_STORE, path, { isAgent: parent !== null, parentId, hasAgents });
    }
  }
}

const isSession = ({ name, type }: { name: string; type: string }): boolean =>
  type === 'file' && name.endsWith(SUFFIX) && !name.includes('.tmp-');

const idOf = ({ header }: Head): string | null => (header === null ? null : nameField(header, 'id'));

const hasTitle = ({ first }: Head): boolean => first !== null && stringField(first, 'type') === 'title';

/**
 * A fork copies the folder of its origin's agents. Each agent's file is read once: where its header says it belongs, or
 * else below the oldest session.
 */
export function choose(sources: readonly SourceSpec[], walker: Walker): readonly SourceSpec[] {
  const agents = new Map<string, SourceSpec[]>();
  for (const source of sources) {
    if (source.hints['isAgent'] !== true) continue;
    const id = idOf(readHead(source.path, walker));
    if (id !== null) agents.set(id, [...(agents.get(id) ?? []), source]);
  }
  const doubles = new Set<SourceSpec>();
  for (const copies of agents.values()) {
    if (copies.length < 2) continue;
    const kept = copies.find((copy) => isAtHome(copy, walker)) ?? oldest(copies, walker);
    for (const copy of copies) if (copy !== kept) doubles.add(copy);
  }
  return sources.filter((source) => !doubles.has(source));
}

function isAtHome({ path }: SourceSpec, walker: Walker): boolean {
  const { header } = readHead(path, walker);
  const parent = header === null ? null : nameField(header, 'parentSession');
  return parent !== null && basename(parent.replaceAll('\\', '/')) === basename(dirname(path)) + SUFFIX;
}

function oldest(copies: readonly SourceSpec[], walker: Walker): SourceSpec {
  const began = (source: SourceSpec): number => {
    const { header } = readHead(dirname(source.path) + SUFFIX, walker);
    return (header === null ? null : parseIsoTime(field(header, 'timestamp'))) ?? Number.POSITIVE_INFINITY;
  };
  return copies.reduce((first, other) => (began(other) < began(first) ? other : first));
}

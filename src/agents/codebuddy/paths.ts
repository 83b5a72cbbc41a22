/** Sessions by project, and in a session's folder those of its agents. */
import { join } from 'node:path';
import type { Entry, SourceSpec, Walker } from '../agent.ts';
import { asObject, objectField, parseOrUndefined, stringField } from '../dialects/json.ts';

/** Names of the two layouts of a product: items of its own, and lines shaped like those of Claude Code. */
export interface ProjectStores {
  readonly items: string;
  readonly claude: string;
}

export function* discoverProjects(root: string, stores: ProjectStores, walker: Walker): Iterable<SourceSpec> {
  for (const project of walker.list(join(root, 'projects'))) {
    if (project.type !== 'folder') continue;
    for (const entry of inPathOrder(walker.list(project.path))) {
      if (entry.type === 'file') yield* sessionFile(entry, null, stores, walker);
      else {
        for (const agent of walker.list(join(entry.path, 'subagents'))) {
          if (agent.type === 'file') yield* sessionFile(agent, entry.name, stores, walker);
        }
      }
    }
  }
}

function* sessionFile(
  { name, path }: Entry,
  parent: string | null,
  stores: ProjectStores,
  walker: Walker,
): Iterable<SourceSpec> {
  const stem = /^(.+)\.jsonl$/.exec(name)?.[1];
  if (stem === undefined) return;
  yield {
    storeKind: isClaudeShaped(path, walker) ? stores.claude : stores.items,
    path,
    identity: path,
    name: stem,
    hints: { isAgent: parent !== null, parent },
    sidecars: {},
  };
}

const HEAD = 64 * 1024;

/** What the first line of a conversation is; both kinds of files lie in one project. */
function isClaudeShaped(path: string, walker: Walker): boolean {
  for (const line of walker.head(path, HEAD)?.toString('utf8').split('\n') ?? []) {
    const record = asObject(parseOrUndefined(line));
    if (record === null) continue;
    if (objectField(record, 'payload') !== null) return false;
    const type = stringField(record, 'type');
    if (type === 'user' || type === 'assistant') return objectField(record, 'message') !== null;
    if (type === 'message' || type === 'reasoning' || type?.startsWith('function_call') === true) return false;
  }
  return false;
}

/** In a path a folder's name is followed by a separator, which sorts after `.` and `-`. */
function inPathOrder(entries: readonly Entry[]): Entry[] {
  const key = (entry: Entry): string => (entry.type === 'folder' ? `${entry.name}/` : entry.name);
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

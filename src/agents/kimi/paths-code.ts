/** Sessions of Kimi Code: a folder for each, with a journal for each of its agents. */
import { join } from 'node:path';
import type { Entry, SourceSpec, Walker } from '../agent.ts';
import { asObject, nameField, objectField, parseOrUndefined } from '../dialects/json.ts';
import { readObject } from './small-files.ts';
import { JOURNAL_STORE } from './stores.ts';

const MAX_INDEX = 64 * 1024 * 1024;

/** Work folders by session. */
export function readIndex(path: string, walker: Walker): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const bytes = walker.isFile(path) ? walker.read(path, MAX_INDEX) : null;
  for (const line of bytes?.toString('utf8').split('\n') ?? []) {
    const row = asObject(parseOrUndefined(line));
    const id = row === null ? null : nameField(row, 'sessionId');
    const folder = row === null ? null : nameField(row, 'workDir');
    if (id !== null && folder !== null) folders.set(id, folder);
  }
  return folders;
}

export function* discoverCode(
  { name, path: folder }: Entry,
  { index, names }: { index: ReadonlyMap<string, string>; names: ReadonlySet<string> },
  walker: Walker,
): Iterable<SourceSpec> {
  const state = readObject(join(folder, 'state.json'), walker);
  const agents = state === null ? null : objectField(state, 'agents');
  const forkedFrom = state === null ? null : nameField(state, 'forkedFrom');
  const cwd = (state === null ? null : nameField(state, 'workDir')) ?? index.get(name) ?? null;
  for (const { name: agent, path, type } of walker.list(join(folder, 'agents'))) {
    const journal = join(path, 'wire.jsonl');
    if (type !== 'folder' || !walker.isFile(journal)) continue;
    const isMain = agent === 'main';
    const facts = agents === null ? null : objectField(agents, agent);
    const parent = facts === null ? null : nameField(facts, 'parentAgentId');
    yield {
      storeKind: JOURNAL_STORE,
      path: journal,
      identity: journal,
      name: `${name}/${agent}`,
      hints: {
        // Names of agents come again in every session.
        sessionId: isMain ? name : `${name}:${agent}`,
        session: name,
        agent,
        isMain,
        parent: isMain ? forkedFrom : parent === null || parent === 'main' ? name : `${name}:${parent}`,
        title: isMain && state !== null ? nameField(state, 'title') : null,
        cwd,
        forkedFrom,
        isOriginHere: forkedFrom !== null && names.has(forkedFrom),
      },
      sidecars: {},
    };
  }
}

/** Sessions of both programs lie two folders down; what they hold tells whose they are. */
import { join } from 'node:path';
import type { Entry, SourceSpec, Walker } from '../agent.ts';
import { discoverCli, type WorkFolders, workFolders } from './paths-cli.ts';
import { discoverCode, readIndex } from './paths-code.ts';
import { readObject } from './small-files.ts';

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const groups = walker.list(join(root, 'sessions')).filter(({ type }) => type === 'folder');
  const found = groups.map((group) => [group, walker.list(group.path)] as const);
  // A fork may lie beside its origin or not: it is known by its name.
  const names = new Set(found.flatMap(([, entries]) => entries.map(({ name }) => name)));
  let folders: WorkFolders | null = null;
  let index: ReadonlyMap<string, string> | null = null;
  for (const [group, entries] of found) {
    for (const entry of entries) {
      if (isOfCode(entry, walker)) {
        index ??= readIndex(join(root, 'session_index.jsonl'), walker);
        yield* discoverCode(entry, { index, names }, walker);
      } else {
        folders ??= workFolders(readObject(join(root, 'kimi.json'), walker));
        yield* discoverCli(entry, folders(group.name), names, walker);
      }
    }
  }
}

const isOfCode = (entry: Entry, walker: Walker): boolean =>
  entry.type === 'folder' && walker.isFolder(join(entry.path, 'agents'));

/** Files of a session in the tree, in reading order. */
import { join } from 'node:path';
import type { FolderFile } from '../../framing/folder.ts';
import type { SourceSpec } from '../agent.ts';

const SUFFIX = '.json';

/** Temporary files (`.oc-…tmp`) are what a crash left of a file that was being replaced. */
const jsonFiles = (names: readonly string[]): string[] =>
  names.filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'));

const stem = (name: string): string => name.slice(0, -SUFFIX.length);

/** The session, then its messages (their names sort by age), each with its parts. */
export function* sessionFiles(source: SourceSpec, list: (folder: string) => readonly string[]): Iterable<FolderFile> {
  const messages = String(source.hints['messages']);
  const parts = String(source.hints['parts']);
  yield { path: source.path, locator: `session/${source.name}` };
  for (const name of jsonFiles(list(messages))) {
    const id = stem(name);
    yield { path: join(messages, name), locator: `message/${id}` };
    for (const part of jsonFiles(list(join(parts, id)))) {
      yield { path: join(parts, id, part), locator: `part/${id}/${stem(part)}` };
    }
  }
}

/** Where aider's logs are: in projects, of which nothing keeps a list. */
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';

export const HISTORY_STORE = 'aider-markdown';

const FILE = '.aider.chat.history.md';
/** Folders deep below a root that are looked into, and how many at the most. */
const MAX_DEPTH = 5;
const MAX_FOLDERS = 20_000;
/** Folders that hold no projects, or copies of foreign ones. */
const PASSED = new Set([
  'node_modules',
  'Library',
  'AppData',
  'Applications',
  'vendor',
  'target',
  'dist',
  'build',
  'venv',
  '__pycache__',
]);

/** The file that a variable names, and projects near the home folder. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['AIDER_CHAT_HISTORY_FILE']?.trim() ?? '';
  const found: RootCandidate[] = [{ path: home, reason: `projects up to ${MAX_DEPTH} folders below home` }];
  if (named !== '' && isAbsolute(named))
    found.unshift({ path: named, reason: 'env AIDER_CHAT_HISTORY_FILE', isFile: true });
  return found;
}

const sourceOf = (path: string): SourceSpec => ({
  storeKind: HISTORY_STORE,
  path,
  identity: path,
  name: join(basename(dirname(path)), basename(path)),
  hints: { cwd: dirname(path) },
  sidecars: {},
});

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  if (walker.isFile(root)) {
    yield sourceOf(root);
    return;
  }
  let folders = [root];
  let count = 0;
  for (let depth = 0; depth <= MAX_DEPTH && folders.length > 0; depth++) {
    const below: string[] = [];
    for (const folder of folders) {
      if (++count > MAX_FOLDERS) {
        walker.passBy(
          root,
          'walk_too_wide',
          `holds more than ${MAX_FOLDERS} folders; name projects with --root aider=PATH`,
        );
        return;
      }
      for (const { name, path, type } of walker.list(folder)) {
        if (type === 'file' && name === FILE) yield sourceOf(path);
        else if (type === 'folder' && !name.startsWith('.') && !PASSED.has(name)) below.push(path);
      }
    }
    folders = below;
  }
}

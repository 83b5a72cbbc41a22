/** Where conversations are: in an export, which has no place of its own, or in the cache of the app on a Mac. */
import { basename, dirname, join } from 'node:path';
import type { AgentEnvironment, Entry, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { isExportOf } from '../dialects/exports.ts';

export const CONVERSATION_STORE = 'chatgpt-conversations';

const EXPORT_FILE = /^conversations(-\d+)?\.json$/;
const CACHE_FOLDER = /^conversations-(?!v\d)/;
const ENCRYPTED_FOLDER = /^conversations-v\d+-/;
const SUFFIX = '.json';

export const roots = ({ home, platform }: AgentEnvironment): RootCandidate[] =>
  platform === 'darwin'
    ? [{ path: join(home, 'Library', 'Application Support', 'com.openai.chat'), reason: 'default' }]
    : [];

/** Files of an export at the root or one folder down, and folders of the cache. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(root);
  yield* exportFiles(entries, walker);
  for (const { name, path, type } of entries) {
    if (type === 'file') {
      if (name.endsWith('.zip'))
        walker.passBy(path, 'archive', 'is an archive; unpack it and name its folder by --root to read it');
    } else if (ENCRYPTED_FOLDER.test(name)) {
      walker.passBy(path, 'encrypted', 'holds conversations that the app encrypts; they cannot be read');
    } else if (CACHE_FOLDER.test(name)) {
      yield* cacheFiles(path, walker);
    } else yield* exportFiles(walker.list(path), walker);
  }
}

function* exportFiles(entries: readonly Entry[], walker: Walker): Iterable<SourceSpec> {
  const files = entries.filter(({ name, type }) => type === 'file' && EXPORT_FILE.test(name));
  // Newer exports come in pieces; a whole file beside them holds the same once more.
  const pieces = files.filter(({ name }) => name !== 'conversations.json');
  for (const { name, path } of pieces.length > 0 ? pieces : files) {
    if (isExportOf('mapping', path, walker)) yield sourceOf(path, `${basename(dirname(path))}/${name}`);
  }
}

function* cacheFiles(folder: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(folder)) {
    if (type === 'file' && name.endsWith(SUFFIX)) yield sourceOf(path, name.slice(0, -SUFFIX.length));
  }
}

const sourceOf = (path: string, name: string): SourceSpec => ({
  storeKind: CONVERSATION_STORE,
  path,
  identity: path,
  name,
  hints: {},
  sidecars: {},
});

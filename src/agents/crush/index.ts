/** Crush: a database beside each project, found by the index of projects. */
import { dirname, join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { asObject, nameField, objectsField, parseOrUndefined } from '../dialects/json.ts';
import { listSessions, schema } from './sessions.ts';

const DATABASE_STORE = 'crush-database';
const MAX_INDEX = 64 * 1024 * 1024;

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

/** The folder with the index of projects, and the data folder of a Crush that was started in the home folder. */
function roots({ env, home, platform }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => env[name]?.trim() ?? '';
  const global = ((): RootCandidate => {
    if (value('CRUSH_GLOBAL_DATA') !== '') return { path: value('CRUSH_GLOBAL_DATA'), reason: 'env CRUSH_GLOBAL_DATA' };
    if (value('XDG_DATA_HOME') !== '')
      return { path: join(value('XDG_DATA_HOME'), 'crush'), reason: 'env XDG_DATA_HOME' };
    if (platform === 'win32')
      return { path: join(value('LOCALAPPDATA') || join(home, 'AppData', 'Local'), 'crush'), reason: 'default' };
    return { path: join(home, '.local', 'share', 'crush'), reason: 'default' };
  })();
  return [global, { path: join(home, '.crush'), reason: 'started in the home folder' }];
}

/** A root is the folder of the index, a data folder, or a project. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const [folder, projects] of indexedFolders(join(root, 'projects.json'), walker)) {
    // Several projects may share a folder; which of them a session belongs to is not stored.
    const beside = projects.find((path) => join(path, '.crush') === folder);
    yield* storeIn(folder, beside ?? (projects.length === 1 ? projects[0]! : null), walker);
  }
  for (const folder of [root, join(root, '.crush')]) yield* storeIn(folder, null, walker);
}

function indexedFolders(path: string, walker: Walker): ReadonlyMap<string, string[]> {
  const folders = new Map<string, string[]>();
  const bytes = walker.isFile(path) ? walker.read(path, MAX_INDEX) : null;
  if (bytes === null) return folders;
  const index = asObject(parseOrUndefined(bytes.toString('utf8')));
  if (index === null) {
    walker.passBy(path, 'malformed_json', 'is no index of projects (it does not parse); it was passed by');
    return folders;
  }
  for (const project of objectsField(index, 'projects')) {
    const place = nameField(project, 'path');
    const folder = nameField(project, 'data_dir');
    if (place !== null && folder !== null) folders.set(folder, [...(folders.get(folder) ?? []), place]);
  }
  return folders;
}

function* storeIn(folder: string, project: string | null, walker: Walker): Iterable<SourceSpec> {
  const path = join(folder, 'crush.db');
  // A folder that is a link may lead where nothing is to be read.
  const real = join(walker.realPath(folder), 'crush.db');
  if (!walker.isFile(path) || !walker.isFile(real)) return;
  const cwd = project ?? (/[\\/]\.crush[\\/]?$/.test(folder) ? dirname(folder) : null);
  for (const spec of databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listSessions)) {
    const identity = spec.member === undefined ? real : `${real}#${spec.member}`;
    yield { ...spec, identity, hints: { ...spec.hints, cwd } };
  }
}

export const crush: AgentDefinition = {
  slug: 'crush',
  name: 'Crush',
  aliases: ['charm-crush'],
  evidence: 'writer',
  usage: 'none',
  stores: '.crush/crush.db of the projects in projects.json',
  resume: 'crush --session <id>',
  roots,
  discover,
  formats: { [DATABASE_STORE]: database },
};

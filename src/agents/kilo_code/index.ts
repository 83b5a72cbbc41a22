/** Kilo Code: task folders of the first extension and program (made of Roo Code); then OpenCode's database. */
import { basename, join } from 'node:path';
import type { AgentDefinition, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { extensionRoots, type TaskStore, taskSources } from '../dialects/task-rows/sources.ts';
import { storeFormats } from '../opencode/formats.ts';
import { discoverStore, type TreeLayout } from '../opencode/paths.ts';

const TASK_STORE = 'kilo-task';
const EXTENSION = 'kilocode.kilo-code';

const task: StoreFormat = {
  framing: 'folder',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).taskCode,
};

const store: TaskStore = { storeKind: TASK_STORE, extension: EXTENSION, index: null, oldRows: [], hints: () => ({}) };

const layout: TreeLayout = {
  databases: /^kilo(?:-[A-Za-z0-9._-]+)?\.db$/,
  sessions: 'session',
  storeKinds: { tree: 'kilo-tree', database: 'kilo-database' },
};

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  if (basename(root) === 'kilo') yield* discoverStore(root, walker, layout);
  else yield* taskSources(root, walker, store);
}

export const kiloCode: AgentDefinition = {
  slug: 'kilo_code',
  name: 'Kilo Code',
  aliases: ['kilo', 'kilo-code', 'kilocode'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'tasks/<id>/ of the first extension and program; kilo.db of the rebuilt one',
  resume: 'kilo --session <id>',
  roots: (environment) => [
    ...extensionRoots(environment, EXTENSION),
    { path: join(environment.home, '.kilocode', 'cli', 'global'), reason: 'command line' },
    {
      path: join(environment.env['XDG_DATA_HOME']?.trim() || join(environment.home, '.local', 'share'), 'kilo'),
      reason: 'rebuilt',
    },
  ],
  discover,
  /** Should an import have taken a task along under its id, the database tells it. */
  choose: (sources) => {
    const rebuilt = new Set(sources.filter(({ storeKind }) => storeKind !== TASK_STORE).map(({ name }) => name));
    return sources.filter(({ storeKind, name }) => storeKind !== TASK_STORE || !rebuilt.has(name));
  },
  formats: { [TASK_STORE]: task, ...storeFormats(layout, () => import('./format.ts')) },
};

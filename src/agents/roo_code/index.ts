/** Roo Code: a product made of Cline, with its task folders. */
import { join } from 'node:path';
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { extensionRoots, type TaskStore, taskSources } from '../dialects/task-rows/sources.ts';

const TASK_STORE = 'roo-task';
const EXTENSION = 'rooveterinaryinc.roo-cline';

const task: StoreFormat = {
  framing: 'folder',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).taskCode,
};

// The index beside the tasks is a cache that may be stale; each task has an item of its own.
const store: TaskStore = { storeKind: TASK_STORE, extension: EXTENSION, index: null, oldRows: [], hints: () => ({}) };

export const rooCode: AgentDefinition = {
  slug: 'roo_code',
  name: 'Roo Code',
  aliases: ['roo', 'roo-code', 'roo-cline'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'tasks/<id>/ of the extension in every editor, and of the command line program',
  resume: null,
  roots: (environment) => [
    ...extensionRoots(environment, EXTENSION),
    { path: join(environment.home, '.vscode-mock', 'global-storage'), reason: 'command line' },
  ],
  discover: (root, walker) => taskSources(root, walker, store),
  formats: { [TASK_STORE]: task },
};

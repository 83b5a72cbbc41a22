/** Where Antigravity keeps its conversations: a set of files each. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { lookInto } from '../dialects/database-sources.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import { type ModelSteps, modelsByStep, schema, workspaceOf } from './generations.ts';

export const TRANSCRIPT_STORE = 'antigravity-transcript';
export const USAGE_STORE = 'antigravity-database';
export const HISTORY_STORE = 'antigravity-history';
export const SEALED_STORE = 'antigravity-sealed';

export const roots = ({ home }: AgentEnvironment): RootCandidate[] =>
  ['antigravity-cli', 'antigravity', 'antigravity-ide'].map((name) => ({
    path: join(home, '.gemini', name),
    reason: 'default',
  }));

const MAX_HISTORY = 256 * 1024 * 1024;

/** Folders of conversations, from the prompts that were typed; and which conversations have any. */
function typedPrompts(path: string, walker: Walker): ReadonlyMap<string, string | null> {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_HISTORY) : null;
  const found = new Map<string, string | null>();
  for (const line of bytes === null ? [] : bytes.toString('utf8').split('\n')) {
    const row = asObject(parseOrUndefined(line));
    const id = row === null ? null : nameField(row, 'conversationId');
    if (row !== null && id !== null && (found.get(id) ?? null) === null)
      found.set(id, folderOf(nameField(row, 'workspace')));
  }
  return found;
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const historyPath = join(root, 'history.jsonl');
  const prompts = typedPrompts(historyPath, walker);
  const told = new Set<string>();
  const databases = new Map<
    string,
    { path: string; models: ModelSteps; workspace: string | null; state: string } | SourceSpec
  >();
  for (const { name, path, type } of walker.list(join(root, 'conversations'))) {
    const id = /^(.+)\.db$/.exec(name)?.[1];
    if (type !== 'file' || id === undefined) continue;
    const found = lookInto(walker, { path, schema }, (database) => ({
      ...modelsByStep(database),
      workspace: workspaceOf(database),
    }));
    if ('fault' in found) databases.set(id, { ...sourceOf(USAGE_STORE, path, id), fault: found.fault });
    else databases.set(id, { path, ...found.value });
  }
  for (const { name: id, path, type } of walker.list(join(root, 'brain'))) {
    const logs = join(path, '.system_generated', 'logs');
    // The one with whole texts stands for the one in which they are cut.
    const file = ['transcript_full.jsonl', 'transcript.jsonl']
      .map((name) => join(logs, name))
      .find((name) => walker.isFile(name));
    if (type !== 'folder' || file === undefined) continue;
    told.add(id);
    const database = databases.get(id);
    const facts = database === undefined || 'storeKind' in database ? null : database;
    const cwd = prompts.get(id) ?? facts?.workspace ?? null;
    const models = facts === null ? null : JSON.stringify(facts.models);
    yield { ...sourceOf(TRANSCRIPT_STORE, file, id), identity: join(path, 'transcript'), hints: { cwd, models, root } };
  }
  for (const [id, database] of databases) {
    if ('storeKind' in database) yield database;
    else {
      const { path, state, workspace } = database;
      // Without a transcript it is the session itself.
      const hints = { isOnly: !told.has(id), cwd: prompts.get(id) ?? workspace };
      yield { ...sourceOf(USAGE_STORE, path, id), member: id, state, hints };
    }
  }
  yield* sealed(root, walker);
  const bare = [...prompts.keys()].filter((id) => !told.has(id) && !databases.has(id));
  if (bare.length > 0) {
    const hints = { conversations: JSON.stringify(bare.map((id) => [id, prompts.get(id) ?? null])) };
    yield { ...sourceOf(HISTORY_STORE, historyPath, 'history'), hints };
  }
}

const sourceOf = (storeKind: string, path: string, name: string): SourceSpec => ({
  storeKind,
  path,
  identity: path,
  name,
  hints: {},
  sidecars: {},
});

/** Older conversations: encrypted, the key is the vendor's. */
function* sealed(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const folder of ['conversations', 'implicit']) {
    for (const { name, path, type } of walker.list(join(root, folder))) {
      if (type !== 'file' || !name.endsWith('.pb')) continue;
      yield {
        ...sourceOf(SEALED_STORE, path, name.slice(0, -'.pb'.length)),
        fault: {
          status: 'unsupported',
          code: 'encrypted_store',
          message: 'is encrypted by its vendor and cannot be read',
        },
      };
    }
  }
}

/** Where VS Code keeps chat sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { lookInto } from '../dialects/database-sources.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import { userFolders } from '../dialects/vscode.ts';
import { listSessions, schema } from './old-sessions.ts';

export const LOG_STORE = 'copilot-log';
export const SNAPSHOT_STORE = 'copilot-json';
export const DATABASE_STORE = 'copilot-vscdb';

const PRODUCTS = ['Code', 'Code - Insiders', 'VSCodium'];

export const roots = (environment: AgentEnvironment): RootCandidate[] =>
  userFolders(environment, PRODUCTS, { servers: true });

const MAX_SIDECAR = 1024 * 1024;

/** The folder of a workspace; null for windows without one, and for files that list several. */
export function workspaceFolder(path: string, walker: Walker): string | null {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_SIDECAR) : null;
  const workspace = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  return workspace === null ? null : folderOf(nameField(workspace, 'folder'));
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const workspace of walker.list(join(root, 'workspaceStorage'))) {
    if (workspace.type !== 'folder') continue;
    const cwd = workspaceFolder(join(workspace.path, 'workspace.json'), walker);
    yield* sessionsIn(join(workspace.path, 'chatSessions'), cwd, true, walker);
    yield* oldSessions(join(workspace.path, 'state.vscdb'), cwd, walker);
  }
  const global = join(root, 'globalStorage');
  yield* sessionsIn(join(global, 'emptyWindowChatSessions'), null, false, walker);
  yield* sessionsIn(join(global, 'transferredChatSessions'), null, false, walker);
  yield* oldSessions(join(global, 'state.vscdb'), null, walker);
}

/** The log stands for a snapshot of the same name, which the vendor leaves where it was. */
function* sessionsIn(folder: string, cwd: string | null, inWorkspace: boolean, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(folder).filter(({ type }) => type === 'file');
  const names = new Set(entries.map(({ name }) => name));
  for (const { name, path } of entries) {
    const [, stem, suffix] = /^(.+)\.(jsonl|json)$/.exec(name) ?? [];
    if (stem === undefined || (suffix === 'json' && names.has(`${stem}.jsonl`))) continue;
    yield {
      storeKind: suffix === 'jsonl' ? LOG_STORE : SNAPSHOT_STORE,
      path,
      identity: path,
      name: stem,
      hints: { cwd, inWorkspace },
      sidecars: {},
    };
  }
}

/** Sessions of before March 2025: a list in the key-value store of the window. */
function* oldSessions(path: string, cwd: string | null, walker: Walker): Iterable<SourceSpec> {
  if (!walker.isFile(path)) return;
  const found = lookInto(walker, { path, schema }, listSessions);
  // The store is the editor's; where it has no chat sessions it is none of ours, and neither is what ails it.
  if ('fault' in found) {
    walker.passBy(path, found.fault.code, found.fault.message);
    return;
  }
  for (const { member, state, bytes } of found.value) {
    const identity = `${path}#${member}`;
    yield {
      storeKind: DATABASE_STORE,
      path,
      identity,
      name: member,
      hints: { cwd, inWorkspace: cwd !== null },
      sidecars: {},
      member,
      state,
      bytes,
    };
  }
}

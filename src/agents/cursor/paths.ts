/** Where Cursor keeps its conversations: three stores, of which two or three may hold the same one. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { lookInto } from '../dialects/database-sources.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import { folderOf } from '../dialects/paths.ts';
import { userFolders } from '../dialects/vscode.ts';
import { schema as chatSchema, listChats } from './chats.ts';
import { schema as cliSchema, listCliSession } from './cli-store.ts';
import { type ComposerFolders, schema as composerSchema, foldersIn, listComposers } from './composers.ts';

export const COMPOSER_STORE = 'cursor-composer';
export const CHAT_STORE = 'cursor-chat';
export const CLI_STORE = 'cursor-cli';
export const TRANSCRIPT_STORE = 'cursor-transcript';
export const TEXT_STORE = 'cursor-transcript-text';

/** The transcripts' root comes first: it is small, and there on machines without the editor. */
export const roots = (environment: AgentEnvironment): RootCandidate[] => [
  { path: join(environment.home, '.cursor'), reason: 'default' },
  ...userFolders(environment, ['Cursor']),
];

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  yield* editorSessions(root, walker);
  yield* transcripts(root, walker);
  yield* cliSessions(root, walker);
}

function* editorSessions(root: string, walker: Walker): Iterable<SourceSpec> {
  const folders: ComposerFolders = { byComposer: new Map(), byWorkspace: new Map() };
  for (const workspace of walker.list(join(root, 'workspaceStorage'))) {
    if (workspace.type !== 'folder') continue;
    const folder = workspaceFolder(join(workspace.path, 'workspace.json'), walker);
    if (folder !== null) folders.byWorkspace.set(workspace.name, folder);
    const path = join(workspace.path, 'state.vscdb');
    if (!walker.isFile(path)) continue;
    const found = lookInto(walker, { path, schema: chatSchema }, (database) => {
      foldersIn(database, folder, folders);
      return listChats(database);
    });
    // Metadata, unless chats of the oldest kind are in it.
    if ('fault' in found) walker.passBy(path, found.fault.code, found.fault.message);
    else {
      for (const { member, state, bytes } of found.value) {
        const identity = `${path}#${member}`;
        yield {
          storeKind: CHAT_STORE,
          path,
          identity,
          name: member,
          hints: { cwd: folder },
          sidecars: {},
          member,
          state,
          bytes,
        };
      }
    }
  }
  const path = join(root, 'globalStorage', 'state.vscdb');
  if (!walker.isFile(path)) return;
  const whole = { storeKind: COMPOSER_STORE, path, identity: path, name: '', hints: {}, sidecars: {} };
  const found = lookInto(walker, { path, schema: composerSchema }, (database) => {
    foldersIn(database, null, folders);
    return listComposers(database, folders);
  });
  if ('fault' in found) {
    yield { ...whole, fault: found.fault };
    return;
  }
  // The database counts as read, whether there is a conversation in it or not.
  if (found.value.length === 0) yield { ...whole, state: 'empty', bytes: 0 };
  const size = walker.stat(path)?.size ?? 0;
  const rows = found.value.reduce((n, composer) => n + composer.rows, 0);
  for (const { member, state, hints, rows: own } of found.value) {
    const bytes = Math.ceil((size * own) / Math.max(1, rows));
    yield { ...whole, identity: `${path}#${member}`, name: member, hints, member, state, bytes };
  }
}

const MAX_SIDECAR = 1024 * 1024;

function objectIn(path: string, walker: Walker): ReturnType<typeof asObject> {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_SIDECAR) : null;
  return bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
}

function workspaceFolder(path: string, walker: Walker): string | null {
  const workspace = objectIn(path, walker);
  return workspace === null ? null : folderOf(nameField(workspace, 'folder'));
}

/** `projects/<slug>/agent-transcripts`: the slug is not reversible, the folder stands in a sidecar. */
function* transcripts(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const project of walker.list(join(root, 'projects'))) {
    if (project.type !== 'folder') continue;
    const trusted = objectIn(join(project.path, '.workspace-trusted'), walker);
    const cwd = trusted === null ? null : nameField(trusted, 'workspacePath');
    for (const entry of walker.list(join(project.path, 'agent-transcripts'))) {
      if (entry.type === 'file') yield* transcript(entry.path, entry.name, cwd, null);
      else {
        for (const { name, path, type } of walker.list(entry.path))
          if (type === 'file') yield* transcript(path, name, cwd, null);
        for (const { name, path, type } of walker.list(join(entry.path, 'subagents')))
          if (type === 'file') yield* transcript(path, name, cwd, entry.name);
      }
    }
  }
}

function* transcript(path: string, file: string, cwd: string | null, parent: string | null): Iterable<SourceSpec> {
  const [, stem, suffix] = /^(.+)\.(jsonl|txt)$/.exec(file) ?? [];
  if (stem === undefined) return;
  const storeKind = suffix === 'jsonl' ? TRANSCRIPT_STORE : TEXT_STORE;
  yield { storeKind, path, identity: path, name: stem, hints: { cwd, parent }, sidecars: {} };
}

/** `chats/<project-hash>/<id>/store.db`: a database a session. */
function* cliSessions(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const project of walker.list(join(root, 'chats'))) {
    if (project.type !== 'folder') continue;
    for (const chat of walker.list(project.path)) {
      const path = join(chat.path, 'store.db');
      if (chat.type !== 'folder' || !walker.isFile(path)) continue;
      const found = lookInto(walker, { path, schema: cliSchema }, listCliSession);
      const spec = { storeKind: CLI_STORE, path, identity: path, name: basename(chat.path), hints: {}, sidecars: {} };
      if ('fault' in found) yield { ...spec, fault: found.fault };
      else yield { ...spec, member: spec.name, state: found.value.state, hints: { turns: found.value.turns } };
    }
  }
}

/** Sessions of Kimi CLI. */
import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { Entry, SourceSpec, Walker } from '../agent.ts';
import { type Json, nameField, objectField, objectsField } from '../dialects/json.ts';
import { readObject } from './small-files.ts';
import { CONTEXT_STORE, WIRE_STORE } from './stores.ts';

/** The folder in which the sessions of a group were held. */
export type WorkFolders = (group: string) => string | null;

/** A group is named by the MD5 sum of its folder, with the kind of machine before it where that is not this one. */
export function workFolders(index: Json | null): WorkFolders {
  const known = new Map<string, string>();
  for (const entry of index === null ? [] : objectsField(index, 'work_dirs')) {
    const path = nameField(entry, 'path');
    if (path !== null) known.set(hash('md5', path, 'hex'), path);
  }
  return (group) => known.get(group.slice(group.lastIndexOf('_') + 1)) ?? null;
}

export function* discoverCli(
  entry: Entry,
  cwd: string | null,
  names: ReadonlySet<string>,
  walker: Walker,
): Iterable<SourceSpec> {
  if (entry.type === 'file') {
    // The first versions kept the model's context alone; a folder of the same name is what became of it.
    const id = entry.name.endsWith('.jsonl') ? basename(entry.name, '.jsonl') : '';
    if (id !== '' && !names.has(id)) yield source(CONTEXT_STORE, entry.path, id, { sessionId: id, cwd });
    return;
  }
  const { path: folder, name } = entry;
  const agents = walker.list(join(folder, 'subagents')).filter(({ type }) => type === 'folder');
  const isTold = (path: string): boolean => walker.isFile(path) && (walker.stat(path)?.size ?? 0) > 0;
  const wire = join(folder, 'wire.jsonl');
  const context = join(folder, 'context.jsonl');
  const own = agents.filter(({ path }) => isTold(join(path, 'wire.jsonl')));
  const hints = {
    sessionId: name,
    cwd,
    title: titleOf(folder, walker),
    // What their parent saw of them is told by their own files.
    ownFiles: JSON.stringify(own.map((agent) => agent.name)),
  };
  // The context mirrors the log: it is read only where there is none.
  const isWire = isTold(wire);
  if (!isWire && walker.isFile(context)) yield source(CONTEXT_STORE, context, name, hints);
  for (const { name: agent, path } of agents) {
    const file = join(path, 'wire.jsonl');
    const isOwn = isTold(file);
    const mirror = join(path, 'context.jsonl');
    if (!isOwn && (isWire || !walker.isFile(mirror))) continue;
    const meta = readObject(join(path, 'meta.json'), walker);
    const spec = meta === null ? null : objectField(meta, 'launch_spec');
    yield source(isOwn ? WIRE_STORE : CONTEXT_STORE, isOwn ? file : mirror, `${name}/${agent}`, {
      sessionId: `${name}:${agent}`,
      parent: name,
      cwd,
      model: spec === null ? null : nameField(spec, 'effective_model'),
    });
  }
  if (isWire || (walker.isFile(wire) && !walker.isFile(context))) yield source(WIRE_STORE, wire, name, hints);
}

const source = (storeKind: string, path: string, name: string, hints: SourceSpec['hints']): SourceSpec => ({
  storeKind,
  path,
  identity: path,
  name,
  hints,
  sidecars: {},
});

function titleOf(folder: string, walker: Walker): string | null {
  const state = readObject(join(folder, 'state.json'), walker);
  const title = state === null ? null : nameField(state, 'custom_title');
  if (title !== null) return title;
  const old = readObject(join(folder, 'metadata.json'), walker);
  const oldTitle = old === null ? null : nameField(old, 'title');
  return oldTitle === 'Untitled' ? null : oldTitle;
}

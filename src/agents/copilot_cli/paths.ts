/** Where Copilot CLI keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';

export const LOG_STORE = 'copilot-events';
export const LEGACY_STORE = 'copilot-history';

/** The variable is the root itself, without a folder added to it. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['COPILOT_HOME']?.trim() ?? '';
  return named === ''
    ? [{ path: join(home, '.copilot'), reason: 'default' }]
    : [{ path: named, reason: 'env COPILOT_HOME' }];
}

/** A folder stands for a flat file of the same id, and both for a document: a migration copies before it deletes. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const seen = new Set<string>();
  const entries = walker.list(join(root, 'session-state'));
  for (const { name, path, type } of entries) {
    const events = join(path, 'events.jsonl');
    if (type !== 'folder' || !walker.isFile(events)) continue;
    seen.add(name);
    yield { ...logOf(events, name), sidecars: { workspace: join(path, 'workspace.yaml') } };
  }
  for (const { name, path, type } of entries) {
    const id = /^(.+)\.jsonl$/.exec(name)?.[1];
    if (type !== 'file' || id === undefined || seen.has(id)) continue;
    seen.add(id);
    yield logOf(path, id);
  }
  for (const { name, path, type } of walker.list(join(root, 'history-session-state'))) {
    const id = /^session_([0-9a-f-]{36})_.*\.json$/i.exec(name)?.[1];
    if (type !== 'file' || id === undefined || seen.has(id)) continue;
    yield { storeKind: LEGACY_STORE, path, identity: path, name: id, hints: {}, sidecars: {} };
  }
}

const logOf = (path: string, id: string): SourceSpec => ({
  storeKind: LOG_STORE,
  path,
  // Migration moves a flat file into a folder: the same session.
  identity: path.replace(/[/\\]events\.jsonl$/, '.jsonl'),
  name: id,
  hints: {},
  sidecars: {},
});

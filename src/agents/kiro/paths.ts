/** Where Kiro CLI keeps its sessions. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { asObject, dig, nameField, parseOrUndefined } from '../dialects/json.ts';
import { listConversations, schema } from './conversations.ts';

export const JOURNAL_STORE = 'kiro-jsonl';
export const DATABASE_STORE = 'kiro-database';

function dataHome({ env, home, platform }: AgentEnvironment): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['LOCALAPPDATA']?.trim() || join(home, 'AppData', 'Local');
  return env['XDG_DATA_HOME']?.trim() || join(home, '.local', 'share');
}

export function roots(environment: AgentEnvironment): RootCandidate[] {
  const named = environment.env['KIRO_HOME']?.trim() ?? '';
  const data = dataHome(environment);
  return [
    named === ''
      ? { path: join(environment.home, '.kiro'), reason: 'default' }
      : { path: named, reason: 'env KIRO_HOME' },
    { path: join(data, 'kiro-cli'), reason: 'older versions' },
    { path: join(data, 'amazon-q'), reason: 'Amazon Q CLI' },
  ];
}

/** Sidecars hold the state of every turn: megabytes, of which a few members are wanted. */
const MAX_SIDECAR = 256 * 1024 * 1024;

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const path = join(root, 'data.sqlite3');
  if (walker.isFile(path))
    yield* databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, listConversations);
  // The folder of sessions itself may be named.
  const folders = basename(root) === 'cli' ? [root] : [join(root, 'sessions', 'cli')];
  for (const folder of folders) {
    for (const { name, path: file, type } of walker.list(folder)) {
      const stem = /^(.+)\.jsonl$/.exec(name)?.[1];
      if (type !== 'file' || stem === undefined) continue;
      const hints = sidecarFacts(join(folder, `${stem}.json`), walker);
      yield {
        storeKind: JOURNAL_STORE,
        path: file,
        identity: file,
        name: stem,
        hints: { ...hints, sessionId: hints['sessionId'] ?? stem },
        sidecars: {},
      };
    }
  }
}

function sidecarFacts(path: string, walker: Walker): Record<string, string | null> {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_SIDECAR) : null;
  const sidecar = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && sidecar === null)
    walker.passBy(path, 'malformed_json', 'is no sidecar of a session; title and folder are not told by it');
  if (sidecar === null) return {};
  const model = dig(sidecar, 'session_state', 'rts_model_state', 'model_info', 'model_id');
  return {
    sessionId: nameField(sidecar, 'session_id'),
    title: nameField(sidecar, 'title'),
    cwd: nameField(sidecar, 'cwd'),
    parent: nameField(sidecar, 'parent_session_id'),
    reason: nameField(sidecar, 'session_created_reason'),
    model: typeof model === 'string' && model !== 'auto' ? model : null,
  };
}

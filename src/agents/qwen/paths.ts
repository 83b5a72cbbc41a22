/** Where Qwen Code keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';

export const CHAT_STORE = 'qwen-jsonl';
export const AGENT_STORE = 'qwen-agent-jsonl';
export const SNAPSHOT_STORE = 'qwen-json';

const expanded = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;

/** Both variables name the folder itself; the first one that is set counts. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  for (const name of ['QWEN_RUNTIME_DIR', 'QWEN_HOME']) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') return [{ path: expanded(value, home), reason: `env ${name}` }];
  }
  return [{ path: join(home, '.qwen'), reason: 'default' }];
}

const CHAT = /^[0-9a-f-]{32,36}$/i;
const SUFFIX = '.jsonl';

const stemOf = (name: string, suffix: string): string | null =>
  name.endsWith(suffix) && name.length > suffix.length ? name.slice(0, -suffix.length) : null;

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const project of walker.list(join(root, 'projects'))) {
    if (project.type !== 'folder') continue;
    const seen = new Set<string>();
    // Archiving moves a file: the one in use stands for a copy that was left behind.
    for (const folder of [join(project.path, 'chats'), join(project.path, 'chats', 'archive')]) {
      for (const { name, path, type } of walker.list(folder)) {
        const stem = stemOf(name, SUFFIX);
        if (type !== 'file' || stem === null || !CHAT.test(stem) || seen.has(stem)) continue;
        seen.add(stem);
        const isArchived = folder.endsWith('archive');
        // The same session wherever the file lies.
        const identity = join(project.path, 'chats', name);
        yield { storeKind: CHAT_STORE, path, identity, name: stem, hints: { isArchived }, sidecars: {} };
      }
    }
    yield* agentLogs(join(project.path, 'subagents'), walker);
  }
  for (const project of walker.list(join(root, 'tmp'))) {
    if (project.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(join(project.path, 'chats'))) {
      const stem = stemOf(name, '.json');
      if (type !== 'file' || stem === null || !stem.startsWith('session-')) continue;
      yield { storeKind: SNAPSHOT_STORE, path, identity: path, name: stem, hints: {}, sidecars: {} };
    }
  }
}

function* agentLogs(folder: string, walker: Walker): Iterable<SourceSpec> {
  for (const session of walker.list(folder)) {
    if (session.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(session.path)) {
      // `agent-*.jsonl.stream` is text that is still being written elsewhere.
      const stem = stemOf(name, SUFFIX);
      if (type !== 'file' || stem === null || !stem.startsWith('agent-')) continue;
      const sidecars = { meta: join(session.path, `${stem}.meta.json`) };
      const hints = { agentId: stem.slice('agent-'.length), parent: session.name };
      yield { storeKind: AGENT_STORE, path, identity: path, name: `${session.name}/${stem}`, hints, sidecars };
    }
  }
}

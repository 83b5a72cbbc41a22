/** Where gptme keeps its conversations. */
import { isAbsolute, join, win32 } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { readChatSettings } from './settings.ts';

export const CONVERSATION_STORE = 'gptme-conversation';

const SUFFIX = '.jsonl';
const MAX_SETTINGS = 1024 * 1024;

/** The first of them that is set, or is there (writer). */
export function roots({ env, home, platform }: AgentEnvironment): RootCandidate[] {
  const logs = env['GPTME_LOGS_HOME']?.trim() ?? '';
  if (logs !== '') return [{ path: logs, reason: 'env GPTME_LOGS_HOME' }];
  const data = env['XDG_DATA_HOME']?.trim() ?? '';
  if (data !== '') return [{ path: join(data, 'gptme', 'logs'), reason: 'env XDG_DATA_HOME' }];
  const own = join(home, '.local', 'share', 'gptme');
  const found: RootCandidate[] = [{ path: join(own, 'logs'), reason: 'default' }];
  if (platform === 'darwin')
    found.push({
      path: join(home, 'Library', 'Application Support', 'gptme', 'logs'),
      reason: 'default (macOS)',
      unless: own,
    });
  else if (platform === 'win32')
    found.push({
      path: join(env['LOCALAPPDATA']?.trim() || join(home, 'AppData', 'Local'), 'gptme', 'gptme', 'logs'),
      reason: 'default (Windows)',
      unless: own,
    });
  return found;
}

/** Views and event logs tell the same again, and are left out. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path: folder, type } of walker.list(root)) {
    const log = join(folder, 'conversation.jsonl');
    if (type !== 'folder' || !walker.isFile(log)) continue;
    const branches = walker
      .list(join(folder, 'branches'))
      .filter((entry) => entry.type === 'file' && entry.name.endsWith(SUFFIX));
    const settings = join(folder, 'config.toml');
    const text = walker.isFile(settings) ? walker.read(settings, MAX_SETTINGS)?.toString('utf8') : undefined;
    const chat = readChatSettings(text ?? '');
    yield {
      storeKind: CONVERSATION_STORE,
      path: log,
      identity: log,
      name,
      hints: { title: chat.get('name')?.trim() || null, cwd: workspaceOf(chat.get('workspace') ?? '', folder) },
      sidecars: Object.fromEntries(branches.map((entry) => [`branches/${entry.name}`, entry.path])),
    };
  }
}

/** Other values are relative to a folder that is not recorded. */
function workspaceOf(value: string, folder: string): string | null {
  if (value === '@log') return join(folder, 'workspace');
  return isAbsolute(value) || win32.isAbsolute(value) ? value : null;
}

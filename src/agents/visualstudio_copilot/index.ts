/** GitHub Copilot in Visual Studio: traces in a temporary folder, from which conversations are put together. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';

const TRACE_STORE = 'visualstudio-copilot-traces';

const trace: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).traceCode,
};

/** The places on other systems than Windows are those of other readers. */
function roots({ env, home, platform }: AgentEnvironment): RootCandidate[] {
  const cache =
    platform === 'win32'
      ? join(env['LOCALAPPDATA']?.trim() || join(home, 'AppData', 'Local'), 'Temp')
      : platform === 'darwin'
        ? join(home, 'Library', 'Caches')
        : join(home, '.cache');
  return [{ path: join(cache, 'VSGitHubCopilotLogs', 'traces'), reason: 'default' }];
}

const TRACES = /_VSGitHubCopilot_traces.*\.jsonl$/;
/** Visual Studio 2026 keeps traces beside a solution, too: files named by an id alone. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  // A conversation may stand in any of the files.
  const hints = { set: root };
  const source = (path: string, name: string): SourceSpec => ({
    storeKind: TRACE_STORE,
    path,
    identity: path,
    name,
    hints,
    sidecars: {},
  });
  for (const solution of folders(join(root, '.vs'), walker))
    for (const thread of folders(join(solution, 'copilot-chat'), walker))
      for (const { name, path, type } of walker.list(join(thread, 'sessions')))
        if (type === 'file' && ID.test(name)) yield source(path, name);
  for (const { name, path, type } of walker.list(root))
    if (type === 'file' && TRACES.test(name)) yield source(path, name);
}

const folders = (path: string, walker: Walker): string[] =>
  walker.list(path).flatMap((entry) => (entry.type === 'folder' ? [entry.path] : []));

export const visualstudioCopilot: AgentDefinition = {
  slug: 'visualstudio_copilot',
  name: 'GitHub Copilot in Visual Studio',
  aliases: ['visualstudio-copilot', 'vs-copilot'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'VSGitHubCopilotLogs/traces/*_VSGitHubCopilot_traces*.jsonl; beside a solution: .vs/<name>/copilot-chat',
  resume: null,
  roots,
  discover,
  formats: { [TRACE_STORE]: trace },
};

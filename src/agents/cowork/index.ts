/** Claude Cowork: Claude Code run by the desktop app, with a folder of its own for each task. */
import { basename, join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { SESSION_STORE as CLAUDE_STORE, discover as discoverTranscripts } from '../claude/paths.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';
import { configHome } from '../dialects/vscode.ts';

const SESSION_STORE = 'cowork-session';
const FOLDER = 'local-agent-mode-sessions';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'append',
  hasFamily: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

function roots(environment: AgentEnvironment): RootCandidate[] {
  const { env, home, platform } = environment;
  const found = [{ path: join(configHome(environment), 'Claude', FOLDER), reason: 'default' }];
  if (platform !== 'win32') return found;
  const local = env['LOCALAPPDATA']?.trim() || join(home, 'AppData', 'Local');
  const store = join(local, 'Packages', 'Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming', 'Claude', FOLDER);
  return [...found, { path: store, reason: 'store app' }];
}

/** Organization, account, then a record and a folder a task; agents' tasks one folder deeper. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const organization of walker.list(root)) {
    for (const account of organization.type === 'folder' ? walker.list(organization.path) : []) {
      if (account.type !== 'folder') continue;
      for (const tasks of [account.path, join(account.path, 'agent')]) {
        for (const { name, path, type } of walker.list(tasks)) {
          if (type === 'folder' && name.startsWith('local_')) yield* taskSessions(path, walker);
        }
      }
    }
  }
}

const MAX_RECORD = 1024 * 1024;

/** Transcripts below the task's own config folder; nothing else of the task is looked into. */
function* taskSessions(folder: string, walker: Walker): Iterable<SourceSpec> {
  const file = join(folder, '..', `${basename(folder)}.json`);
  const bytes = walker.isFile(file) ? walker.read(file, MAX_RECORD) : null;
  const record = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && record === null)
    walker.passBy(file, 'malformed_json', 'is no record of a session; title and folder are not told by it');
  const text = (key: string): string | null => (record === null ? null : nameField(record, key));
  for (const spec of discoverTranscripts(join(folder, '.claude'), walker)) {
    if (spec.storeKind !== CLAUDE_STORE) continue;
    const isNamed = spec.name === text('cliSessionId');
    const hints = { ...spec.hints, title: isNamed ? text('title') : null, cwd: text('cwd') };
    yield { ...spec, storeKind: SESSION_STORE, hints };
  }
}

export const cowork: AgentDefinition = {
  slug: 'cowork',
  name: 'Claude Cowork',
  aliases: ['claude-cowork'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'local-agent-mode-sessions/<org>/<account>/local_<id>: transcripts as Claude Code writes them',
  resume: null,
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

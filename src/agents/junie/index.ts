/** Junie, the command line agent of JetBrains: an event log a session. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';

const SESSION_STORE = 'junie-events';
const MAX_INDEX = 64 * 1024 * 1024;
const MAX_PROMPT = 4 * 1024 * 1024;

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode,
};

const roots = ({ home }: AgentEnvironment): RootCandidate[] => [{ path: join(home, '.junie'), reason: 'default' }];

interface Listed {
  readonly title: string | null;
  readonly cwd: string | null;
}

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const sessions = join(root, 'sessions');
  const index = readIndex(join(sessions, 'index.jsonl'), walker);
  for (const { name, path, type } of walker.list(sessions)) {
    const events = join(path, 'events.jsonl');
    if (type !== 'folder' || !walker.isFile(events)) continue;
    const listed = index.get(name) ?? { title: null, cwd: null };
    const cwd = listed.cwd ?? folderOfTask(path, walker);
    yield {
      storeKind: SESSION_STORE,
      path: events,
      identity: events,
      name,
      hints: { title: listed.title, cwd },
      sidecars: {},
    };
  }
}

/** Titles and folders by session; of several lines for one, the last. */
function readIndex(path: string, walker: Walker): ReadonlyMap<string, Listed> {
  const listed = new Map<string, Listed>();
  const bytes = walker.isFile(path) ? walker.read(path, MAX_INDEX) : null;
  for (const line of bytes?.toString('utf8').split('\n') ?? []) {
    const row = asObject(parseOrUndefined(line));
    const id = row === null ? null : nameField(row, 'sessionId');
    if (row !== null && id !== null)
      listed.set(id, { title: nameField(row, 'taskName'), cwd: nameField(row, 'projectDir') });
  }
  return listed;
}

/** Older indexes name no folder: a prompt of the session's tasks does. */
function folderOfTask(folder: string, walker: Walker): string | null {
  for (const { name, path, type } of walker.list(folder)) {
    if (type !== 'folder' || !name.startsWith('task-')) continue;
    const prompt = join(path, '.matterhorn', 'representations', 'issue_md', 'issue.standalone_project_str_worker');
    const text = walker.isFile(prompt) ? walker.read(prompt, MAX_PROMPT)?.toString('utf8') : undefined;
    const cwd = /Project root directory:[ \t]*([^\r\n]+)/.exec(text ?? '')?.[1]?.trim();
    if (cwd !== undefined && cwd !== '') return cwd;
  }
  return null;
}

export const junie: AgentDefinition = {
  slug: 'junie',
  name: 'Junie CLI',
  aliases: ['junie-cli', 'jetbrains-junie'],
  evidence: 'peer',
  usage: 'per_reply',
  stores: 'sessions/<id>/events.jsonl with index.jsonl',
  resume: null,
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

/** Clawdbot: a gateway's chats, in session files as pi writes them. */
import { basename, join } from 'node:path';
import type {
  AgentDefinition,
  AgentEnvironment,
  Entry,
  RootCandidate,
  SourceSpec,
  StoreFormat,
  Walker,
} from '../agent.ts';
import { asObject, nameField, objectField, parseOrUndefined, stringField } from '../dialects/json.ts';
import { expanded } from '../pi_agent/paths.ts';

const SESSION_STORE = 'clawdbot-jsonl';
const INDEX = 'sessions.json';
const MAX_INDEX = 64 * 1024 * 1024;

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode,
};

function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = env['CLAWDBOT_STATE_DIR']?.trim() ?? '';
  return value === ''
    ? [{ path: join(home, '.clawdbot'), reason: 'default' }]
    : [{ path: expanded(value, home), reason: 'env CLAWDBOT_STATE_DIR' }];
}

/** What the index beside the files says of sessions. */
interface Listed {
  readonly titles: ReadonlyMap<string, string>;
  /** Transcripts, which may lie anywhere. */
  readonly files: readonly string[];
}

/** Sessions of each agent; those of old lie in one folder, which its doctor may have set aside. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(root)) {
    if (type !== 'folder') continue;
    if (name === 'agents') {
      for (const agent of walker.list(path)) {
        if (agent.type === 'folder') yield* sessionsOf(join(agent.path, 'sessions'), walker);
      }
    } else if (name === 'sessions' || name.startsWith('sessions.legacy-')) yield* sessionsOf(path, walker);
  }
}

/** `<id>.jsonl`, or what became of it when it was deleted. A `.bak` is what a compaction cut: read by the live file. */
const TRANSCRIPT = /^(.+?)\.jsonl(?:\.deleted\..+)?$/;

function* sessionsOf(folder: string, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(folder);
  const names = new Set(entries.map(({ name }) => name));
  const { titles, files } = readIndex(join(folder, INDEX), walker);
  for (const entry of entries) {
    if (entry.type === 'file') yield* transcript(entry, names, titles);
  }
  for (const path of files) {
    const name = basename(path);
    if (path !== join(folder, name) && walker.isFile(path))
      yield* transcript({ name, path, type: 'file' }, new Set([name]), titles);
  }
}

function* transcript(
  { name, path }: Entry,
  names: ReadonlySet<string>,
  titles: ReadonlyMap<string, string>,
): Iterable<SourceSpec> {
  const stem = TRANSCRIPT.exec(name)?.[1];
  if (stem === undefined) return;
  // Topics of one chat have files of their own.
  const sessionId = /^(.+?)-topic-/.exec(stem)?.[1] ?? stem;
  const live = `${stem}.jsonl`;
  yield {
    storeKind: SESSION_STORE,
    path,
    // A deletion renames the file; one of the same name may be there by now.
    identity: names.has(live) ? path : path.slice(0, path.length - name.length) + live,
    name: stem,
    hints: { sessionId, title: titles.get(sessionId) ?? null },
    sidecars: {},
  };
}

function readIndex(path: string, walker: Walker): Listed {
  const titles = new Map<string, string>();
  const files: string[] = [];
  const bytes = walker.isFile(path) ? walker.read(path, MAX_INDEX) : null;
  const index = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && index === null)
    walker.passBy(path, 'malformed_json', 'is no index of sessions; titles are not told by it');
  for (const key of Object.keys(index ?? {})) {
    const row = objectField(index!, key);
    const sessionId = row === null ? null : nameField(row, 'sessionId');
    if (row === null || sessionId === null) continue;
    const title = stringField(row, 'label')?.trim() || stringField(row, 'displayName')?.trim();
    if (title !== undefined && title !== '') titles.set(sessionId, title);
    const file = nameField(row, 'sessionFile');
    if (file !== null) files.push(file);
  }
  return { titles, files };
}

export const clawdbot: AgentDefinition = {
  slug: 'clawdbot',
  name: 'Clawdbot',
  aliases: ['clawd'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'agents/<agent>/sessions/*.jsonl with sessions.json; older: sessions/*.jsonl; deleted ones too',
  resume: null,
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

/** Where OpenClaw keeps its agents, and what of the files there are transcripts. */
import { basename, join } from 'node:path';
import type { AgentEnvironment, Entry, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { databaseSources } from '../dialects/database-sources.ts';
import { asObject, nameField, objectField, parseOrUndefined } from '../dialects/json.ts';
import { readHead } from '../pi_agent/header.ts';
import { expanded } from '../pi_agent/paths.ts';
import { type Listed, listSessions, schema } from './sessions.ts';

export const SESSION_STORE = 'openclaw-jsonl';
export const DATABASE_STORE = 'openclaw-sqlite';
export const COLD_STORE = 'openclaw-cold-jsonl';

const FORMER = '.clawdbot';
const MAX_INDEX = 64 * 1024 * 1024;

/** The folder that a variable or a profile names; else the default one, or while that is missing the former one. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = (name: string): string => env[name]?.trim() ?? '';
  const base = value('OPENCLAW_HOME') === '' ? home : expanded(value('OPENCLAW_HOME'), home);
  if (value('OPENCLAW_STATE_DIR') !== '')
    return [{ path: expanded(value('OPENCLAW_STATE_DIR'), base), reason: 'env OPENCLAW_STATE_DIR' }];
  const profile = value('OPENCLAW_PROFILE');
  if (profile !== '' && profile !== 'default')
    return [{ path: join(base, `.openclaw-${profile}`), reason: 'env OPENCLAW_PROFILE' }];
  const folder = join(base, '.openclaw');
  const reason = value('OPENCLAW_HOME') === '' ? 'default' : 'env OPENCLAW_HOME';
  return [
    { path: folder, reason },
    { path: join(base, FORMER), reason: 'former default', unless: folder },
    { path: join(base, '.openclaw-dev'), reason: `${reason} (--dev)` },
  ];
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const agent of walker.list(join(root, 'agents'))) {
    if (agent.type === 'folder') yield* agentSources(agent, basename(root) === FORMER, walker);
  }
}

/** The database of an agent, then files of sessions that it does not hold. */
function* agentSources(agent: Entry, isFormer: boolean, walker: Walker): Iterable<SourceSpec> {
  const path = join(agent.path, 'agent', 'openclaw-agent.sqlite');
  const folder = join(agent.path, 'sessions');
  const known = new Set<string>();
  if (walker.isFile(path)) {
    let coldFiles: Listed['coldFiles'] = [];
    const sources = databaseSources(walker, { storeKind: DATABASE_STORE, path, schema }, (database) => {
      const listed = listSessions(database, agent.name);
      ({ coldFiles } = listed);
      return listed.members;
    });
    for (const spec of sources) {
      if (spec.member !== undefined) known.add(spec.member);
      yield spec;
    }
    for (const { sessionId, name, facts } of coldFiles) {
      known.add(sessionId);
      const file = join(folder, 'cold', name);
      if (walker.isFile(file))
        yield { storeKind: COLD_STORE, path: file, identity: file, name: sessionId, hints: facts, sidecars: {} };
      else walker.passBy(file, 'missing_file', 'is named by the database, and is not there');
    }
  }
  yield* fileSources(folder, agent.name, known, isFormer, walker);
}

/** Live, or what became of it in a reset or a deletion; both may have been compressed (writer). */
const TRANSCRIPT =
  /^(.+?)\.jsonl(?:\.(reset|deleted)\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d{3})?Z(?:\.[0-9a-f]{32})?(\.zst)?)?$/;
/** Copies that compactions and migrations leave, and logs of runs. */
const NO_TRANSCRIPT = /\.checkpoint\.[0-9a-f-]+$|\.trajectory$|\.migrated|\.pre-doctor-/;

function* fileSources(
  folder: string,
  agentId: string,
  known: ReadonlySet<string>,
  isFormer: boolean,
  walker: Walker,
): Iterable<SourceSpec> {
  const files = walker.list(folder).filter((entry) => entry.type === 'file');
  const names = new Set(files.map(({ name }) => name));
  const index = readIndex(join(folder, 'sessions.json'), walker);
  const latest = new Map<string, string>();
  for (const { name } of files) {
    const stem = TRANSCRIPT.exec(name)?.[1];
    if (stem !== undefined) latest.set(stem, name);
  }
  for (const { name, path } of files) {
    const [, stem, fate, compressed] = TRANSCRIPT.exec(name) ?? [];
    if (stem === undefined || NO_TRANSCRIPT.test(stem)) continue;
    // In the former folder Clawdbot's own definition reads the rest: one file is told once.
    if (isFormer && fate !== 'reset') continue;
    if (known.size > 0 && [...idsOf(path, stem, compressed !== undefined, walker)].some((id) => known.has(id)))
      continue;
    const live = `${stem}.jsonl`;
    const facts = index.get(stem) ?? index.get(withoutTopic(stem));
    yield {
      storeKind: SESSION_STORE,
      path,
      // A reset or a deletion renames the file; one of the same name may be there by now.
      identity: name === live || (!names.has(live) && latest.get(stem) === name) ? join(folder, live) : path,
      name: stem,
      hints: { agentId, ...facts },
      sidecars: {},
    };
  }
}

/** Topics of one chat have files of their own. */
const withoutTopic = (stem: string): string => stem.replace(/-topic-.*$/, '');

function* idsOf(path: string, stem: string, isCompressed: boolean, walker: Walker): Iterable<string> {
  yield stem;
  yield withoutTopic(stem);
  const header = isCompressed ? null : readHead(path, walker).header;
  const id = header === null ? null : nameField(header, 'id');
  if (id !== null) yield id;
}

/** What the index says of sessions, by their id. */
function readIndex(path: string, walker: Walker): ReadonlyMap<string, Record<string, string | null>> {
  const found = new Map<string, Record<string, string | null>>();
  const bytes = walker.isFile(path) ? walker.read(path, MAX_INDEX) : null;
  const index = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && index === null)
    walker.passBy(path, 'malformed_json', 'is no index of sessions; titles are not told by it');
  for (const sessionKey of Object.keys(index ?? {})) {
    const row = objectField(index!, sessionKey);
    const id = row === null ? null : nameField(row, 'sessionId');
    if (row === null || id === null) continue;
    found.set(id, {
      sessionKey,
      title: nameField(row, 'label') ?? nameField(row, 'displayName'),
      channel: nameField(row, 'channel'),
      spawnedBy: nameField(row, 'spawnedBy'),
    });
  }
  return found;
}

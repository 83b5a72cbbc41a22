/** Where Muse Code keeps its sessions. */
import { isAbsolute, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, parseOrUndefined } from '../dialects/json.ts';
import { type Facts, noFacts, readEnvelope, unwrapped, withFacts } from './envelope.ts';

export const SESSION_STORE = 'muse-session';

/** The facts of a session stand in its first records. */
const HEAD = 1024 * 1024;

/** The same on every platform; a variable that names no absolute path counts as none. The other one is that of readers. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const own = env['MUSE_DATA_DIR']?.trim() ?? '';
  const data = env['XDG_DATA_HOME']?.trim() ?? '';
  return [
    ...(own === '' ? [] : [{ path: own, reason: 'env MUSE_DATA_DIR' }]),
    isAbsolute(data)
      ? { path: join(data, 'muse'), reason: 'env XDG_DATA_HOME' }
      : { path: join(home, '.local', 'share', 'muse'), reason: 'default' },
  ];
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const year of below(join(root, 'sessions'), /^\d{4}$/, walker))
    for (const month of below(year.path, /^\d{1,2}$/, walker))
      for (const day of below(month.path, /^\d{1,2}$/, walker))
        for (const session of below(day.path, /^[^.]/, walker)) yield* sessionsIn(session.path, session.name, walker);
}

const below = (folder: string, name: RegExp, walker: Walker) =>
  walker.list(folder).filter((entry) => entry.type === 'folder' && name.test(entry.name));

function* sessionsIn(folder: string, name: string, walker: Walker): Iterable<SourceSpec> {
  const log = join(folder, 'session.jsonl');
  const hasLog = walker.isFile(log);
  if (hasLog) yield source(log, name, {});
  const agents = below(join(folder, 'subagent'), /^[^.]/, walker).filter(({ path }) =>
    walker.isFile(join(path, 'session.jsonl')),
  );
  if (agents.length === 0) return;
  // Subagents' logs do not say where they work, nor with what.
  const { cwd, model, provider, version } = hasLog ? factsOf(log, name, walker) : noFacts;
  for (const agent of agents)
    yield source(join(agent.path, 'session.jsonl'), agent.name, { parent: name, cwd, model, provider, version });
}

const source = (path: string, name: string, hints: SourceSpec['hints']): SourceSpec => ({
  storeKind: SESSION_STORE,
  path,
  identity: path,
  name,
  hints,
  sidecars: {},
});

function factsOf(log: string, sessionId: string, walker: Walker): Facts {
  let facts = noFacts;
  for (const line of walker.head(log, HEAD)?.toString('utf8').split('\n') ?? []) {
    const record = asObject(parseOrUndefined(line));
    if (record === null) continue;
    for (const child of unwrapped(record)) {
      const envelope = child === null ? null : readEnvelope(child);
      if (envelope !== null && (envelope.streamId ?? sessionId) === sessionId) facts = withFacts(facts, envelope);
    }
  }
  return facts;
}

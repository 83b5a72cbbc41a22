/** CodeWhale, once DeepSeek TUI: a JSON file a session. */
import { basename, join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';

const SESSION_STORE = 'codewhale-json';
const SESSION_FILE = /^([A-Za-z0-9_-]+)\.json$/;
/** A crash copy of a running session, and what it had still to send: older versions keep them among the sessions. */
const OTHERS: ReadonlySet<string> = new Set(['latest', 'offline_queue']);

const session: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = env['CODEWHALE_HOME']?.trim() ?? '';
  if (value !== '') return [{ path: value, reason: 'env CODEWHALE_HOME' }];
  return [
    { path: join(home, '.codewhale'), reason: 'default' },
    { path: join(home, '.deepseek'), reason: 'former default' },
  ];
}

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const isFormer = basename(root) === '.deepseek';
  for (const { name, path, type } of walker.list(join(root, 'sessions'))) {
    const stem = SESSION_FILE.exec(name)?.[1];
    if (type !== 'file' || stem === undefined || OTHERS.has(stem)) continue;
    yield { storeKind: SESSION_STORE, path, identity: path, name: stem, hints: { isFormer }, sidecars: {} };
  }
}

/** The rename left copies behind, which nobody writes to any more. */
function choose(sources: readonly SourceSpec[]): readonly SourceSpec[] {
  const current = new Set(sources.filter(({ hints }) => hints['isFormer'] !== true).map(({ name }) => name));
  return sources.filter(({ hints, name }) => hints['isFormer'] !== true || !current.has(name));
}

export const deepseekTui: AgentDefinition = {
  slug: 'deepseek_tui',
  name: 'CodeWhale (DeepSeek TUI)',
  aliases: ['deepseek-tui', 'codewhale', 'deepseek'],
  evidence: 'writer',
  usage: 'none',
  stores: 'sessions/<id>.json',
  resume: 'codewhale resume <id>',
  roots,
  discover,
  choose,
  formats: { [SESSION_STORE]: session },
};

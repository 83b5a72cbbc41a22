/** Prime Agent: session files as pi writes them, with what children used written down again beside their parent's. */
import { dirname, isAbsolute, join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { nameField } from '../dialects/json.ts';
import { readHead } from '../pi_agent/header.ts';
import { expanded, sessionFile } from '../pi_agent/paths.ts';

const SESSION_STORE = 'prime-jsonl';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode,
};

/** The writer takes the first variable that is set. */
function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const candidates = [
    ['PRIME_AGENT_SESSION_DIR', ''],
    ['PRIME_AGENT_CODING_AGENT_SESSION_DIR', ''],
    ['PRIME_AGENT_CODING_AGENT_DIR', 'sessions'],
  ] as const;
  for (const [name, below] of candidates) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') return [{ path: join(expanded(value, home), below), reason: `env ${name}` }];
  }
  return [{ path: join(home, '.prime', 'agent', 'sessions'), reason: 'default' }];
}

const MAX_DEPTH = 6;

/** Flat by now; sessions of old lie in a folder for each project. */
function* discover(root: string, walker: Walker, depth = 0): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(root)) {
    if (type === 'folder') {
      if (depth < MAX_DEPTH) yield* discover(path, walker, depth + 1);
    } else if (name.endsWith('.jsonl')) yield sessionFile(SESSION_STORE, path, { parentId: parentOf(path, walker) });
  }
}

/** Id in the header of the file that this one's header names; null where there is none, or it is gone. */
function parentOf(path: string, walker: Walker): string | null {
  const { header } = readHead(path, walker);
  const named = header === null ? null : nameField(header, 'parentSession');
  if (named === null) return null;
  const parent = readHead(isAbsolute(named) ? named : join(dirname(path), named), walker).header;
  return parent === null ? null : nameField(parent, 'id');
}

export const prime: AgentDefinition = {
  slug: 'prime',
  name: 'Prime Agent',
  aliases: ['prime-agent', 'prime_agent'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'sessions/<id>.jsonl, also in a session folder named by a variable',
  resume: 'prime-agent --resume <id>',
  roots,
  discover: (root, walker) => discover(root, walker),
  formats: { [SESSION_STORE]: session },
};

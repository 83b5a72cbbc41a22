/** Where Continue keeps its sessions. */
import { isAbsolute, join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';

export const SESSION_STORE = 'continue-json';

/** A relative value of the variable is relative to a folder that nobody else knows. */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const named = env['CONTINUE_GLOBAL_DIR']?.trim() ?? '';
  return named !== '' && isAbsolute(named)
    ? [{ path: named, reason: 'env CONTINUE_GLOBAL_DIR' }]
    : [{ path: join(home, '.continue'), reason: 'default' }];
}

/** `sessions.json` is the index. */
export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(join(root, 'sessions'))) {
    if (type !== 'file' || !name.endsWith('.json') || name === 'sessions.json') continue;
    const stem = name.slice(0, -'.json'.length);
    yield { storeKind: SESSION_STORE, path, identity: path, name: stem, hints: {}, sidecars: {} };
  }
}

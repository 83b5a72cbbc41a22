/** Muse Code, the terminal agent of Meta: a log of envelopes a session, and one for each of its subagents. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { discover, roots, SESSION_STORE } from './paths.ts';

/** A step's usage is told twice; where one of the two is not there yet, the other stands in until it is. */
const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  replacesUsage: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

export const muse: AgentDefinition = {
  slug: 'muse',
  name: 'Muse Code',
  aliases: ['muse-code', 'muse_code'],
  evidence: 'report',
  usage: 'per_reply',
  stores: 'sessions/<year>/<month>/<day>/<id>/session.jsonl, with subagent/<id>/session.jsonl',
  resume: 'muse resume <id>',
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

/** pi: one tree of entries a session, appended to a JSONL file. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import type { PiProduct } from './decode.ts';
import { discover, OTHER_STORE, roots, SESSION_STORE } from './paths.ts';

/** The layout of session files, which other products write too. */
export const piFormat = (product: PiProduct): StoreFormat => ({
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode(product),
});

export const piAgent: AgentDefinition = {
  slug: 'pi_agent',
  name: 'pi',
  aliases: ['pi', 'pi-agent', 'pi-coding-agent'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'sessions/<cwd>/<time>_<id>.jsonl, also in a session folder named by a variable',
  resume: 'pi --session <id>',
  roots,
  discover,
  formats: { [SESSION_STORE]: piFormat({ resume: 'pi --session' }), [OTHER_STORE]: piFormat({ resume: null }) },
};

/** Qoder of Alibaba: its command line program, its IDE and QoderWork. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { choose, discover, roots, SESSION_STORE, TASK_STORE } from './paths.ts';

const transcript = (isTask: boolean): StoreFormat => ({
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).sessionCode(isTask),
});

export const qoder: AgentDefinition = {
  slug: 'qoder',
  name: 'Qoder',
  aliases: ['qodercli', 'qoder-cli', 'qoderwork'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl with subagents; IDE: projects/*.jsonl, older tasks/*/*.jsonl',
  resume: 'qodercli --resume <id>',
  roots,
  discover,
  choose,
  formats: { [SESSION_STORE]: transcript(false), [TASK_STORE]: transcript(true) },
};

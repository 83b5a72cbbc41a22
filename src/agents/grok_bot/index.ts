/** Grok Bot, the desktop app: the newest part of each bot's endless chat. Not Grok Build. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { decodeBase32 } from './base32.ts';

const REPLICA_STORE = 'grok-bot-replica';
const SUFFIX = '.blob';

const replica: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  isWindow: true,
  load: async () => (await import('./format.ts')).replicaCode,
};

/** Where other systems keep it is not known. */
const roots = ({ home, platform }: AgentEnvironment): RootCandidate[] =>
  platform === 'darwin'
    ? [
        {
          path: join(home, 'Library', 'Application Support', 'Grok Bot', 'sand-client-persistence'),
          reason: 'default',
        },
      ]
    : [];

/** Key of a transcript: the account stays out of all ids, as it tells who somebody is. */
const KEY =
  /^sand\.client\.slice\.account\.[^./]+\.transcript\.replicas\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Files are named by their key; most of them hold the state of the window, not a transcript. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of walker.list(root)) {
    if (type !== 'file' || !name.endsWith(SUFFIX)) continue;
    const bot = KEY.exec(decodeBase32(name.slice(0, -SUFFIX.length)) ?? '')?.[1];
    if (bot !== undefined) yield { storeKind: REPLICA_STORE, path, identity: path, name: bot, hints: {}, sidecars: {} };
  }
}

export const grokBot: AgentDefinition = {
  slug: 'grok_bot',
  name: 'Grok Bot',
  aliases: ['grok-bot', 'grokbot'],
  evidence: 'report',
  usage: 'none',
  stores: 'sand-client-persistence/<key>.blob: the newest entries of each chat',
  resume: null,
  roots,
  discover,
  formats: { [REPLICA_STORE]: replica },
};

/** Kiro CLI, and Amazon Q CLI before it: journals with a sidecar, and databases of conversations. */
import type { AgentDefinition, StoreFormat } from '../agent.ts';
import { DATABASE_STORE, discover, JOURNAL_STORE, roots } from './paths.ts';

const journal: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).journalCode,
};

const database: StoreFormat = {
  framing: 'database',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).databaseCode,
};

export const kiro: AgentDefinition = {
  slug: 'kiro',
  name: 'Kiro CLI',
  aliases: ['kiro-cli', 'amazon-q', 'q-cli'],
  evidence: 'peer',
  usage: 'none',
  stores: 'sessions/cli/<id>.jsonl; data.sqlite3 of Kiro CLI and Amazon Q CLI',
  resume: 'kiro-cli chat --resume-id <id>',
  roots,
  discover,
  /** A conversation that is in a database and in a journal is one session. */
  choose: (sources) => {
    const stored = new Set(
      sources
        .filter(({ storeKind, member }) => storeKind === DATABASE_STORE && member !== undefined)
        .map(({ name }) => name),
    );
    return sources.filter(
      ({ storeKind, hints }) => storeKind === DATABASE_STORE || !stored.has(String(hints['sessionId'])),
    );
  },
  formats: { [JOURNAL_STORE]: journal, [DATABASE_STORE]: database },
};

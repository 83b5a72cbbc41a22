/** claude.ai: exports of an account. */
import { basename, dirname } from 'node:path';
import type { AgentDefinition, Entry, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { isExportOf } from '../dialects/exports.ts';

const CONVERSATION_STORE = 'claude-ai-conversations';
const EXPORT_FILE = 'conversations.json';

const conversations: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).conversationCode,
};

/** The file of an export, at the root or one folder down. An export has no place of its own. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(root);
  yield* exportFile(entries, walker);
  for (const { name, path, type } of entries) {
    if (type === 'folder') yield* exportFile(walker.list(path), walker);
    else if (name.endsWith('.zip'))
      walker.passBy(path, 'archive', 'is an archive; unpack it and name its folder by --root to read it');
  }
}

function* exportFile(entries: readonly Entry[], walker: Walker): Iterable<SourceSpec> {
  for (const { name, path, type } of entries) {
    if (type !== 'file' || name !== EXPORT_FILE || !isExportOf('chat_messages', path, walker)) continue;
    yield {
      storeKind: CONVERSATION_STORE,
      path,
      identity: path,
      name: `${basename(dirname(path))}/${name}`,
      hints: {},
      sidecars: {},
    };
  }
}

export const claudeAi: AgentDefinition = {
  slug: 'claude_ai',
  name: 'claude.ai',
  aliases: ['claude-ai', 'claude.ai'],
  evidence: 'peer',
  usage: 'none',
  stores: 'conversations.json of an unpacked export (`--root`)',
  resume: null,
  roots: () => [],
  discover,
  formats: { [CONVERSATION_STORE]: conversations },
};

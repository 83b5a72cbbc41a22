/** Command Code: a tree of entries a session; before that, messages one after the other. */
import { join } from 'node:path';
import type { AgentDefinition, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { asObject, nameField, parseOrUndefined } from '../dialects/json.ts';

const SESSION_STORE = 'commandcode-jsonl';

const session: StoreFormat = {
  framing: 'jsonl',
  decoderVersion: 1,
  incremental: 'diff',
  hasFamily: true,
  load: async () => (await import('./format.ts')).sessionCode,
};

/** Files beside sessions that are none. */
const NO_SESSION = /\.(?:checkpoints|prompts)$|^hooks-audit/;
const MAX_META = 1024 * 1024;

function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const project of walker.list(join(root, 'projects'))) {
    if (project.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(project.path)) {
      const stem = type === 'file' ? /^(.+)\.jsonl$/.exec(name)?.[1] : undefined;
      if (stem === undefined || NO_SESSION.test(stem)) continue;
      const hints = readMeta(join(project.path, `${stem}.meta.json`), walker);
      yield { storeKind: SESSION_STORE, path, identity: path, name: stem, hints, sidecars: {} };
    }
  }
}

/** What the file beside a session says of it. */
function readMeta(path: string, walker: Walker): SourceSpec['hints'] {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_META) : null;
  const meta = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && meta === null)
    walker.passBy(path, 'malformed_json', 'says nothing of the session; title and parent are not told by it');
  if (meta === null) return {};
  return {
    title: nameField(meta, 'title'),
    parent: nameField(meta, 'parentSessionId'),
    entrypoint: nameField(meta, 'entrypoint'),
  };
}

export const commandcode: AgentDefinition = {
  slug: 'commandcode',
  name: 'Command Code',
  aliases: ['command-code', 'cmdc'],
  evidence: 'writer',
  usage: 'per_reply',
  stores: 'projects/<project>/*.jsonl with *.meta.json',
  resume: 'cmd --resume <id>',
  roots: ({ home }) => [{ path: join(home, '.commandcode'), reason: 'default' }],
  discover,
  formats: { [SESSION_STORE]: session },
};

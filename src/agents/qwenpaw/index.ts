/** QwenPaw, once CoPaw: a JSON file a chat, by agent and channel. */
import { join } from 'node:path';
import type { AgentDefinition, AgentEnvironment, RootCandidate, SourceSpec, StoreFormat, Walker } from '../agent.ts';
import { asObject, type Json, nameField, objectsField, parseOrUndefined } from '../dialects/json.ts';

const SESSION_STORE = 'qwenpaw-json';
const MAX_CHATS = 64 * 1024 * 1024;

const session: StoreFormat = {
  framing: 'document',
  decoderVersion: 1,
  incremental: 'diff',
  load: async () => (await import('./format.ts')).sessionCode,
};

function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  for (const name of ['QWENPAW_WORKING_DIR', 'COPAW_WORKING_DIR']) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') return [{ path: value, reason: `env ${name}` }];
  }
  const former = join(home, '.copaw');
  return [
    { path: former, reason: 'former default' },
    { path: join(home, '.qwenpaw'), reason: 'default', unless: former },
  ];
}

/** As a part of a file's name is written. */
const written = (text: string): string => text.replace(/[\\/:*?"<>|]/g, '--');

/** Sessions of each agent; those of the time before agents only where no agent has any. */
function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  let isEmpty = true;
  for (const { name, path, type } of walker.list(join(root, 'workspaces'))) {
    if (type !== 'folder' || name.startsWith('.')) continue;
    for (const source of sessionsOf(path, name, walker)) {
      isEmpty = false;
      yield source;
    }
  }
  if (isEmpty) yield* sessionsOf(root, 'default', walker);
}

function* sessionsOf(workspace: string, agent: string, walker: Walker): Iterable<SourceSpec> {
  const entries = walker.list(join(workspace, 'sessions')).filter(({ name }) => !name.startsWith('.'));
  const chats = readChats(join(workspace, 'chats.json'), walker);
  const inChannels = new Set<string>();
  for (const channel of entries) {
    if (channel.type !== 'folder') continue;
    for (const { name, path, type } of walker.list(channel.path)) {
      if (type !== 'file' || !name.endsWith('.json') || name.startsWith('.')) continue;
      inChannels.add(name);
      yield sourceOf(path, name, `${agent}:${channel.name}:`, titleOf(chats, name, channel.name));
    }
  }
  for (const { name, path, type } of entries) {
    // A flat file is copied into the channel's folder when it is first used there.
    if (type === 'file' && name.endsWith('.json') && !inChannels.has(name))
      yield sourceOf(path, name, `${agent}:`, titleOf(chats, name, null));
  }
}

const stemOf = (name: string): string => name.slice(0, -'.json'.length);

const sourceOf = (path: string, name: string, prefix: string, title: string | null): SourceSpec => ({
  storeKind: SESSION_STORE,
  path,
  identity: path,
  name: `${prefix}${stemOf(name)}`,
  hints: { title },
  sidecars: {},
});

function readChats(path: string, walker: Walker): readonly Json[] {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_CHATS) : null;
  const index = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && index === null)
    walker.passBy(path, 'malformed_json', 'is no list of chats; titles are not told by it');
  return index === null ? [] : objectsField(index, 'chats');
}

/** The name of the only chat that is written to such a file. */
function titleOf(chats: readonly Json[], name: string, channel: string | null): string | null {
  const matching = chats.filter((chat) => {
    const session = nameField(chat, 'session_id');
    if (session === null || (channel !== null && nameField(chat, 'channel') !== channel)) return false;
    const user = nameField(chat, 'user_id');
    return stemOf(name) === (user === null ? written(session) : `${written(user)}_${written(session)}`);
  });
  return matching.length === 1 ? nameField(matching[0]!, 'name') : null;
}

export const qwenpaw: AgentDefinition = {
  slug: 'qwenpaw',
  name: 'QwenPaw',
  aliases: ['copaw', 'qwen-paw'],
  evidence: 'writer',
  usage: 'none',
  stores: 'workspaces/<agent>/sessions/<channel>/*.json with chats.json',
  resume: null,
  roots,
  discover,
  formats: { [SESSION_STORE]: session },
};

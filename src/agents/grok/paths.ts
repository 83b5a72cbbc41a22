/** Where Grok Build keeps its sessions. */
import { join } from 'node:path';
import type { AgentEnvironment, RootCandidate, SourceSpec, Walker } from '../agent.ts';
import { asObject, type Json, nameField, objectField, parseOrUndefined } from '../dialects/json.ts';

export const JOURNAL_STORE = 'grok-updates';
export const CHAT_STORE = 'grok-chat-history';

const MAX_SUMMARY = 16 * 1024 * 1024;
const MAX_CWD = 64 * 1024;
/** What decides whether a journal says something stands in its first lines, if anywhere. */
const HEAD = 256 * 1024;
const MAX_JOURNAL = 256 * 1024 * 1024;

/** The variable names the folder itself, as it is (writer). */
export function roots({ env, home }: AgentEnvironment): RootCandidate[] {
  const value = env['GROK_HOME'] ?? '';
  return value === '' ? [{ path: join(home, '.grok'), reason: 'default' }] : [{ path: value, reason: 'env GROK_HOME' }];
}

export function* discover(root: string, walker: Walker): Iterable<SourceSpec> {
  for (const group of walker.list(join(root, 'sessions'))) {
    if (group.type !== 'folder') continue;
    const cwd = folderOfGroup(group.path, group.name, walker);
    for (const { name, path, type } of walker.list(group.path))
      if (type === 'folder') yield* sourcesOf(path, name, cwd, walker);
  }
}

function* sourcesOf(folder: string, name: string, groupCwd: string | null, walker: Walker): Iterable<SourceSpec> {
  const journal = join(folder, 'updates.jsonl');
  const chat = join(folder, 'chat_history.jsonl');
  const hasJournal = walker.isFile(journal);
  const hasChat = walker.isFile(chat) && (!hasJournal || isWordless(journal, walker));
  if (!hasJournal && !hasChat) return;
  const hints = hintsOf(readSummary(join(folder, 'summary.json'), walker), name, groupCwd);
  const source = (storeKind: string, path: string): SourceSpec => ({
    storeKind,
    path,
    // A session's folder moves with its working directory.
    identity: join(folder, storeKind),
    name,
    hints,
    sidecars: {},
  });
  if (hasChat) yield source(CHAT_STORE, chat);
  if (hasJournal) yield source(JOURNAL_STORE, journal);
}

/**
 * Whether a journal holds neither talk nor calls. An empty one is the beginning of a session that has not begun: a
 * subagent's chat history may hold its parent's context then, which is no session of its own (writer).
 */
function isWordless(journal: string, walker: Walker): boolean {
  const size = walker.stat(journal)?.size ?? 0;
  if (size === 0) return false;
  const says = (bytes: Buffer | null): boolean =>
    /"sessionUpdate"\s*:\s*"(?:user_message_chunk|agent_message_chunk|agent_thought_chunk|tool_call|tool_call_update)"/.test(
      bytes?.toString('latin1') ?? '',
    );
  if (says(walker.head(journal, HEAD))) return false;
  return size <= HEAD || !says(walker.read(journal, MAX_JOURNAL));
}

function readSummary(path: string, walker: Walker): Json | null {
  const bytes = walker.isFile(path) ? walker.read(path, MAX_SUMMARY) : null;
  const summary = bytes === null ? null : asObject(parseOrUndefined(bytes.toString('utf8')));
  if (bytes !== null && summary === null) walker.passBy(path, 'malformed_json', 'is no JSON object; passed by');
  return summary;
}

function hintsOf(summary: Json | null, folderName: string, groupCwd: string | null): SourceSpec['hints'] {
  const text = (key: string): string | null => (summary === null ? null : nameField(summary, key));
  const info = summary === null ? null : objectField(summary, 'info');
  return {
    sessionId: (info === null ? null : nameField(info, 'id')) ?? folderName,
    cwd: (info === null ? null : nameField(info, 'cwd')) ?? groupCwd,
    title: text('generated_title') ?? text('session_summary'),
    parent: text('parent_session_id'),
    kind: text('session_kind'),
    branch: text('head_branch'),
  };
}

/** A group's folder is named by the percent-encoded path; where that is too long, the path stands in a file. */
function folderOfGroup(path: string, name: string, walker: Walker): string | null {
  const file = join(path, '.cwd');
  const named = walker.isFile(file) ? walker.read(file, MAX_CWD)?.toString('utf8').trim() : undefined;
  if (named !== undefined && named !== '') return named;
  try {
    const decoded = decodeURIComponent(name);
    return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(decoded) ? decoded : null;
  } catch {
    return null;
  }
}

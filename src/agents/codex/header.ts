/** The first line of a rollout: who the thread is, where it ran and what it came from. */
import { parseIsoTime } from '../dialects/clock.ts';
import { asObject, countField, field, type Json, nameField, objectField, stringField } from './guards.ts';

/** JSON-able: it is part of the saved state. */
export interface Header {
  readonly id: string;
  readonly parentId: string | null;
  /** Threads whose history this file may open with, as the header declares them. */
  readonly declaredParents: readonly string[];
  readonly kind: 'main' | 'subagent' | 'fork';
  readonly origin: string | null;
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly gitCommit: string | null;
  readonly version: string | null;
  readonly provider: string | null;
  /** When the thread was made, in ms since 1970. */
  readonly createdAt: number | null;
  /** `history_base`: the file holds only own lines and continues another one from there. */
  readonly base: { readonly threadId: string | null; readonly endOrdinal: number | null } | null;
  /** `subagent_history_start_ordinal`. */
  readonly historyStart: number | null;
  readonly extra: Readonly<Record<string, string>> | null;
}

const EXTRA_KEYS = [
  'originator',
  'model_provider',
  'thread_source',
  'history_mode',
  'agent_nickname',
  'agent_role',
  'agent_path',
];
/** `thread_source` of threads that another thread started for itself; guardian reviews are real spend of their own. */
const SUBAGENT_SOURCES = new Set(['subagent', 'guardian_review']);

/** How a thread was started: `source` as recorded, its only key where it is an object, else the originator. */
function originOf(payload: Json): string | null {
  const source = field(payload, 'source');
  if (typeof source === 'string' && source !== '' && source !== 'unknown') return source;
  const object = asObject(source);
  if (object !== null) {
    const custom = nameField(object, 'custom');
    if (custom !== null) return custom;
    const key = Object.keys(object)[0];
    if (key !== undefined) return key;
  }
  return nameField(payload, 'originator');
}

function extraOf(payload: Json, spawn: Json | null): Record<string, string> | null {
  const extra: Record<string, string> = {};
  for (const key of EXTRA_KEYS) {
    const value = nameField(payload, key) ?? (spawn === null ? null : nameField(spawn, key));
    if (value !== null) extra[key] = value;
  }
  const git = objectField(payload, 'git');
  const repository = git === null ? null : nameField(git, 'repository_url');
  if (repository !== null) extra['repository_url'] = repository;
  return Object.keys(extra).length === 0 ? null : extra;
}

/**
 * Reads a header (`payload` of `session_meta`, or a bare first line). `nameId` is the id in the file name, which stands
 * in for a header without a usable id.
 */
export function readHeader(payload: Json, nameId: string): Header {
  const id = nameField(payload, 'id') ?? nameId;
  const source = objectField(payload, 'source');
  const subagent = source === null ? undefined : field(source, 'subagent');
  const spawn = objectField(asObject(subagent) ?? {}, 'thread_spawn');
  const other = (name: string | null): string | null => (name === id ? null : name);
  const spawner =
    other(nameField(payload, 'parent_thread_id')) ??
    other(spawn === null ? null : nameField(spawn, 'parent_thread_id'));
  const forkedFrom = other(nameField(payload, 'forked_from_id'));
  const base = objectField(payload, 'history_base');
  const baseThread = base === null ? null : nameField(base, 'thread_id');
  const git = objectField(payload, 'git');
  const isSubagent =
    spawner !== null || subagent !== undefined || SUBAGENT_SOURCES.has(stringField(payload, 'thread_source') ?? '');
  const isFork = forkedFrom !== null || other(baseThread) !== null;
  return {
    id,
    parentId: spawner ?? forkedFrom,
    declaredParents: [spawner, forkedFrom].filter((parent) => parent !== null),
    kind: isSubagent ? 'subagent' : isFork ? 'fork' : 'main',
    origin: originOf(payload),
    cwd: nameField(payload, 'cwd'),
    gitBranch: git === null ? null : nameField(git, 'branch'),
    gitCommit: git === null ? null : nameField(git, 'commit_hash'),
    version: nameField(payload, 'cli_version'),
    provider: nameField(payload, 'model_provider'),
    createdAt: parseIsoTime(field(payload, 'timestamp')),
    base: base === null ? null : { threadId: baseThread, endOrdinal: countField(base, 'end_ordinal_exclusive') },
    historyStart: countField(payload, 'subagent_history_start_ordinal'),
    extra: extraOf(payload, spawn),
  };
}

/**
 * Whether a `session_meta` that is the first line that can be read is the file's own header. Behind a damaged first line
 * it may be a parent's, unless it has the id of the file name.
 */
export const isOwnHeader = (payload: Json, ordinal: number, nameId: string): boolean =>
  ordinal === 0 || nameField(payload, 'id') === nameId;

/**
 * The thread id in a rollout's file name `rollout-<time>-<threadId>[_<rolloutId>]`; the whole stem where it is spelled
 * otherwise, so that every file has an id.
 */
export function threadIdOfName(stem: string): string {
  const rest = /^rollout-\d{4}-\d\d-\d\d(?:T\d\d-\d\d-\d\d)?-(.+)$/.exec(stem)?.[1];
  if (rest === undefined) return stem;
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=$|_)/i.exec(rest)?.[0];
  return uuid ?? rest.split('_', 1)[0] ?? rest;
}

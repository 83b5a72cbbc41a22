/** What `meta.json` says of a session: facts, and totals of its usage. */
import type { SourceSpec } from '../agent.ts';
import { field, type Json, nameField, objectField } from '../dialects/json.ts';

/** Counters that only grow while one statistics object lives. */
const GROWING = [
  'steps',
  'session_prompt_tokens',
  'session_completion_tokens',
  'tool_calls_agreed',
  'tool_calls_rejected',
  'tool_calls_failed',
  'tool_calls_succeeded',
];
const COUNTED = ['session_prompt_tokens', 'session_completion_tokens', 'session_cached_tokens'] as const;

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Whether the totals of a session contain those of the one that it goes on from. */
function contains(own: Json, parent: Json): boolean {
  return GROWING.every((key) => {
    const [mine, theirs] = [field(own, key), field(parent, key)];
    return !isNumber(theirs) || (isNumber(mine) && mine >= theirs);
  });
}

/** Hints of a session: its facts, its totals, and what of them is its parent's. */
export function factsOf(
  meta: Json | null,
  folder: string,
  parentMeta: Json | null,
  enclosing: string | null,
): SourceSpec['hints'] {
  if (meta === null) return { sessionId: folder, parent: enclosing, isAgent: enclosing !== null };
  const environment = objectField(meta, 'environment');
  const config = objectField(meta, 'config');
  const stats = objectField(meta, 'stats');
  const parentStats = parentMeta === null ? null : objectField(parentMeta, 'stats');
  const isContinued = stats !== null && parentStats !== null && contains(stats, parentStats);
  const facts: Record<string, string | number | boolean | null> = {
    sessionId: nameField(meta, 'session_id') ?? folder,
    parent: nameField(meta, 'parent_session_id') ?? enclosing,
    isAgent: enclosing !== null,
    isContinued,
    title: nameField(meta, 'title'),
    cwd: (environment === null ? null : nameField(environment, 'working_directory')) ?? nameField(meta, 'working_dir'),
    branch: nameField(meta, 'git_branch'),
    commit: nameField(meta, 'git_commit'),
    model: (config === null ? null : nameField(config, 'active_model')) ?? nameField(meta, 'model'),
  };
  for (const key of COUNTED) {
    const own = stats === null ? undefined : field(stats, key);
    if (own === undefined || own === null) continue;
    if (!isNumber(own)) {
      facts[key] = 'wrong type';
      continue;
    }
    const theirs = isContinued ? field(parentStats, key) : 0;
    facts[key] = own - (isNumber(theirs) ? theirs : 0);
  }
  const cost = stats === null ? undefined : field(stats, 'session_cost');
  if (isNumber(cost)) facts['session_cost'] = cost;
  return facts;
}

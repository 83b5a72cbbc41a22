/** What the rows of a file say of its session. */
import type { SessionFields } from '../agent.ts';
import { asObject, field, idOrNull, type Json, numberField, objectField, stringField } from './guards.ts';
import type { FileFacts } from './links.ts';
import type { Row } from './row.ts';

/** JSON-able. */
export interface SessionState {
  /** Whether there is a transcript row: a file of titles and snapshots is no session. */
  hasRows: boolean;
  cwd: string | null;
  gitBranch: string | null;
  version: string | null;
  entrypoint: string | null;
  slug: string | null;
  /** The first `forkedFrom.sessionId`, foreign `sessionId` and foreign `requestSessionId`; for agents the parent's id. */
  forkedFrom: string | null;
  foreignSession: string | null;
  requestSession: string | null;
  isBackground: boolean;
  customTitle: string | null;
  aiTitle: string | null;
  summary: string | null;
  agentName: string | null;
  tag: string | null;
  prUrl: string | null;
  continuedIn: string | null;
  cost: Record<CostKey, number | null> | null;
}

type CostKey = 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'usd';

export const newSession = (): SessionState => ({
  hasRows: false,
  cwd: null,
  gitBranch: null,
  version: null,
  entrypoint: null,
  slug: null,
  forkedFrom: null,
  foreignSession: null,
  requestSession: null,
  isBackground: false,
  customTitle: null,
  aiTitle: null,
  summary: null,
  agentName: null,
  tag: null,
  prUrl: null,
  continuedIn: null,
  cost: null,
});

/** Notes a transcript row. `isOwn`: not copied from another session, whose folder and version would be told else. */
export function noteRow(state: SessionState, row: Row, facts: FileFacts, isOwn: boolean): void {
  state.hasRows = true;
  const { sessionId } = facts;
  if (state.foreignSession === null && row.isForeign('sessionId', sessionId))
    state.foreignSession = row.id('sessionId');
  if (state.requestSession === null && row.isForeign('requestSessionId', sessionId)) {
    state.requestSession = row.id('requestSessionId');
  }
  if (state.forkedFrom === null && row.isObject('forkedFrom')) {
    const origin = row.id('forkedFrom.sessionId');
    if (origin !== sessionId) state.forkedFrom = origin;
  }
  if (!isOwn) return;
  state.cwd ??= row.id('cwd');
  state.gitBranch ??= row.id('gitBranch');
  state.version ??= row.id('version');
  state.entrypoint ??= row.id('entrypoint');
  state.slug ??= row.id('slug');
  state.isBackground ||= row.equals('sessionKind', 'bg');
}

/** Notes a row about the session: of each kind the last one counts. */
export function noteFact(state: SessionState, type: string, record: Json, sessionId: string): void {
  switch (type) {
    case 'custom-title':
      state.customTitle = idOrNull(stringField(record, 'customTitle'));
      break;
    case 'ai-title':
      state.aiTitle = idOrNull(stringField(record, 'aiTitle'));
      break;
    case 'agent-name':
      state.agentName = idOrNull(stringField(record, 'agentName'));
      break;
    case 'tag':
      state.tag = idOrNull(stringField(record, 'tag'));
      break;
    case 'pr-link':
      state.prUrl = idOrNull(stringField(record, 'prUrl'));
      break;
    case 'continued-in':
      state.continuedIn = idOrNull(stringField(record, 'continuedInSessionId'));
      break;
    case 'cost-state':
      if ((stringField(record, 'sessionId') ?? sessionId) === sessionId) state.cost = readCost(record);
      break;
  }
}

/** Totals the client keeps per session. They overlap with the replies' usage and are never added to it. */
function readCost(record: Json): Record<CostKey, number | null> {
  const models = Object.values(objectField(record, 'modelUsage') ?? {}).map(asObject);
  const total = (key: string): number | null =>
    models.reduce((sum: number | null, model) => {
      const value = model === null ? null : numberField(model, key);
      return value === null ? sum : (sum ?? 0) + value;
    }, null);
  return {
    input: total('inputTokens'),
    output: total('outputTokens'),
    cacheRead: total('cacheReadInputTokens'),
    cacheWrite: total('cacheCreationInputTokens'),
    usd: numberField(record, 'totalCostUSD'),
  };
}

/** Facts of `agent-<id>.meta.json`, as recorded. */
const META_KEYS = ['agentType', 'description', 'toolUseId', 'model'];

/** Facts worth keeping of an agent's sidecar; null where it is no JSON object. */
export function readMeta(sidecar: Buffer): Record<string, string> | null {
  let meta: Json | null;
  try {
    meta = asObject(JSON.parse(sidecar.toString('utf8')));
  } catch {
    return null;
  }
  if (meta === null) return null;
  const facts: Record<string, string> = {};
  for (const key of META_KEYS) {
    const value = field(meta, key);
    if (typeof value === 'string' && value !== '') facts[key] = value;
  }
  return facts;
}

/** The session of a file. Only main files can be resumed: agent files are not looked up by the vendor. */
export function toSession(state: SessionState, facts: FileFacts, meta: Record<string, string> | null): SessionFields {
  const { sessionId, isAgent } = facts;
  const parent = isAgent
    ? (state.foreignSession ?? facts.parent)
    : (state.forkedFrom ?? state.foreignSession ?? state.requestSession);
  const extra: Record<string, unknown> = { ...meta };
  for (const key of ['slug', 'agentName', 'tag', 'prUrl', 'continuedIn'] as const) {
    if (state[key] !== null) extra[key] = state[key];
  }
  if (state.isBackground) extra['sessionKind'] = 'bg';
  return {
    session_id: sessionId,
    parent_session_id: parent,
    kind: isAgent ? 'subagent' : state.forkedFrom !== null ? 'fork' : 'main',
    origin: state.entrypoint,
    title: state.customTitle ?? state.aiTitle ?? state.summary,
    cwd: state.cwd,
    git_branch: state.gitBranch,
    git_commit: null,
    agent_version: state.version,
    resume_command: isAgent ? null : `claude --resume ${sessionId}`,
    reported_input_tokens: state.cost?.input ?? null,
    reported_output_tokens: state.cost?.output ?? null,
    reported_cache_read_tokens: state.cost?.cacheRead ?? null,
    reported_cache_write_tokens: state.cost?.cacheWrite ?? null,
    reported_cost_usd: state.cost?.usd ?? null,
    extra: Object.keys(extra).length === 0 ? null : extra,
  };
}

/** Types of rows that are not conversation: known, and of no rows of their own (writers 1.0.60 to 2.1.332). */
const KNOWN = new Set([
  'agent-color',
  'agent-name',
  'agent-setting',
  'ai-title',
  'api-request',
  'api-request-blob',
  'api-request-shape',
  'attribution-snapshot',
  'content-replacement',
  'continued-in',
  'cost-state',
  'custom-title',
  'file-history-delta',
  'file-history-snapshot',
  'fork-context-ref',
  'host-row',
  'last-prompt',
  'mode',
  'permission-mode',
  'pr-link',
  'queue-operation',
  'relocated',
  'summary',
  'tag',
  'tools-used',
  'worktree-state',
]);

export const isKnownType = (type: string): boolean => KNOWN.has(type) || type.startsWith('data-flow-');

/** Rows that hold facts of the session. */
const FACTS = new Set(['custom-title', 'ai-title', 'agent-name', 'tag', 'pr-link', 'continued-in', 'cost-state']);

export const isFactType = (type: string): boolean => FACTS.has(type);

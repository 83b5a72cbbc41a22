/** The table of agents, as the README shows it: made from the definitions. */
import type { AgentDefinition } from './agent.ts';

const USAGE: Readonly<Record<AgentDefinition['usage'], string>> = {
  per_reply: 'per reply',
  session_total: 'session total',
  none: 'none',
};

const EVIDENCE: Readonly<Record<AgentDefinition['evidence'], string>> = {
  writer: "the vendor's writer",
  peer: 'other readers',
  report: 'reports',
  doc: 'documentation',
};

/** How sources are read again when they change: by appended bytes, or whole with changed rows told. */
function incrementalOf({ formats }: AgentDefinition): string {
  const ways = new Set(
    Object.values(formats).map((format) => (format.incremental === 'append' ? 'appended bytes' : 'changed rows')),
  );
  return [...ways].sort().join(', ');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function row(agent: AgentDefinition): string {
  const aliases = agent.aliases.length === 0 ? '' : ` (${agent.aliases.join(', ')})`;
  return `| ${[
    `\`${agent.slug}\`${aliases} ${agent.name}`,
    agent.stores.replaceAll('<', '&lt;'),
    USAGE[agent.usage],
    incrementalOf(agent),
    agent.resume === null ? '' : `\`${agent.resume}\``,
    EVIDENCE[agent.evidence],
  ]
    .map(cell)
    .join(' | ')} |`;
}

/** Markdown; agents in order of their slugs. */
export const supportTable = (agents: readonly AgentDefinition[]): string =>
  [
    '| agent (aliases) | stores read | usage recorded | read again by | taken up again by | format known from |',
    '|---|---|---|---|---|---|',
    ...[...agents].sort((a, b) => (a.slug < b.slug ? -1 : 1)).map(row),
  ].join('\n');

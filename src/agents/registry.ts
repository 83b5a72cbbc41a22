/** The agents that sessionlake reads: one line each. */
import type { AgentDefinition } from './agent.ts';
import { claude } from './claude/index.ts';
import { codex } from './codex/index.ts';

export const agents: readonly AgentDefinition[] = [claude, codex];

const byName = new Map<string, AgentDefinition>();
for (const agent of agents) for (const name of [agent.slug, ...agent.aliases]) byName.set(name.toLowerCase(), agent);

/** The agent of this slug or alias. Throws an error that lists all names where there is none. */
export function agentNamed(name: string): AgentDefinition {
  const agent = byName.get(name.trim().toLowerCase());
  if (agent !== undefined) return agent;
  const known = agents.map((a) => (a.aliases.length === 0 ? a.slug : `${a.slug} (${a.aliases.join(', ')})`));
  throw new RangeError(`unknown agent '${name}'; known agents and aliases: ${known.join('; ')}`);
}

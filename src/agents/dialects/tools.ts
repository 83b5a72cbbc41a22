/** What kind of tool a call is, from the names that agents share. */
import type { ToolCallRow } from '../../records/tables.ts';

/** Names under which agents wrap the use of a skill; the skill's own name stands in the arguments. */
const SKILL_TOOLS = new Set(['skill', 'Skill', 'load_skill', 'use_skill']);
/** Argument names that hold the skill's name, in the order in which they are looked for. */
const SKILL_NAME_KEYS = ['skill', 'name', 'skill_name', 'command', 'skillName'];
const AGENT_TOOLS = new Set(['Task', 'Agent', 'spawn_agent']);
const SHELL_TOOLS = new Set([
  'Bash',
  'shell',
  'local_shell',
  'exec_command',
  'shell_command',
  'container.exec',
  'run_shell_command',
]);

export interface ToolIdentity {
  readonly name: string | null;
  readonly kind: ToolCallRow['kind'];
}

const skillName = (input: unknown): string | null => {
  if (typeof input !== 'object' || input === null) return null;
  for (const key of SKILL_NAME_KEYS) {
    const value = Object.hasOwn(input, key) ? (input as Record<string, unknown>)[key] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
};

/**
 * Name and kind of a function-style tool call. A skill wrapper gives kind `skill` and the skill's own name, where its
 * arguments hold one. `input` is the parsed argument object; anything else is allowed and gives no name.
 */
export function identifyTool(name: string | null, input: unknown): ToolIdentity {
  if (name === null) return { name, kind: 'function' };
  if (SKILL_TOOLS.has(name)) {
    const skill = skillName(input);
    if (skill !== null) return { name: skill, kind: 'skill' };
  }
  if (name.startsWith('mcp__')) return { name, kind: 'mcp' };
  if (AGENT_TOOLS.has(name)) return { name, kind: 'agent' };
  if (SHELL_TOOLS.has(name)) return { name, kind: 'shell' };
  return { name, kind: 'function' };
}

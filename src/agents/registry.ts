/** The agents that sessionlake reads: one line each. */
import type { AgentDefinition } from './agent.ts';
import { aider } from './aider/index.ts';
import { amp } from './amp/index.ts';
import { antigravity } from './antigravity/index.ts';
import { chatgpt } from './chatgpt/index.ts';
import { claude } from './claude/index.ts';
import { claudeAi } from './claude_ai/index.ts';
import { clawdbot } from './clawdbot/index.ts';
import { cline } from './cline/index.ts';
import { codebuddy } from './codebuddy/index.ts';
import { codebuff } from './codebuff/index.ts';
import { codex } from './codex/index.ts';
import { commandcode } from './commandcode/index.ts';
import { continueDev } from './continue/index.ts';
import { copilot } from './copilot/index.ts';
import { copilotCli } from './copilot_cli/index.ts';
import { cowork } from './cowork/index.ts';
import { crush } from './crush/index.ts';
import { cursor } from './cursor/index.ts';
import { deepseekTui } from './deepseek_tui/index.ts';
import { devin } from './devin/index.ts';
import { factory } from './factory/index.ts';
import { forge } from './forge/index.ts';
import { gemini } from './gemini/index.ts';
import { goose } from './goose/index.ts';
import { gptme } from './gptme/index.ts';
import { grok } from './grok/index.ts';
import { grokBot } from './grok_bot/index.ts';
import { hermes } from './hermes/index.ts';
import { iflow } from './iflow/index.ts';
import { junie } from './junie/index.ts';
import { kiloCode } from './kilo_code/index.ts';
import { kimi } from './kimi/index.ts';
import { kiro } from './kiro/index.ts';
import { kiroIde } from './kiro_ide/index.ts';
import { mimocode } from './mimocode/index.ts';
import { muse } from './muse/index.ts';
import { omp } from './omp/index.ts';
import { openclaude } from './openclaude/index.ts';
import { openclaw } from './openclaw/index.ts';
import { opencode } from './opencode/index.ts';
import { openhands } from './openhands/index.ts';
import { piAgent } from './pi_agent/index.ts';
import { piDurable } from './pi_durable/index.ts';
import { prime } from './prime/index.ts';
import { qoder } from './qoder/index.ts';
import { qwen } from './qwen/index.ts';
import { qwenpaw } from './qwenpaw/index.ts';
import { rooCode } from './roo_code/index.ts';
import { shelley } from './shelley/index.ts';
import { trae } from './trae/index.ts';
import { traex } from './traex/index.ts';
import { vibe } from './vibe/index.ts';
import { visualstudioCopilot } from './visualstudio_copilot/index.ts';
import { warp } from './warp/index.ts';
import { windsurf } from './windsurf/index.ts';
import { workbuddy } from './workbuddy/index.ts';
import { zcode } from './zcode/index.ts';
import { zed } from './zed/index.ts';
import { zencoder } from './zencoder/index.ts';

export const agents: readonly AgentDefinition[] = [
  aider,
  amp,
  antigravity,
  chatgpt,
  claude,
  claudeAi,
  clawdbot,
  cline,
  codebuddy,
  codebuff,
  codex,
  commandcode,
  continueDev,
  copilot,
  copilotCli,
  cowork,
  crush,
  cursor,
  deepseekTui,
  devin,
  factory,
  forge,
  gemini,
  goose,
  gptme,
  grok,
  grokBot,
  hermes,
  iflow,
  junie,
  kiloCode,
  kimi,
  kiro,
  kiroIde,
  mimocode,
  muse,
  omp,
  openclaude,
  openclaw,
  opencode,
  openhands,
  piAgent,
  piDurable,
  prime,
  qoder,
  qwen,
  qwenpaw,
  rooCode,
  shelley,
  trae,
  traex,
  vibe,
  visualstudioCopilot,
  warp,
  windsurf,
  workbuddy,
  zcode,
  zed,
  zencoder,
];

const byName = new Map<string, AgentDefinition>();
for (const agent of agents) for (const name of [agent.slug, ...agent.aliases]) byName.set(name.toLowerCase(), agent);

/** The agent of this slug or alias. Throws an error that lists all names where there is none. */
export function agentNamed(name: string): AgentDefinition {
  const agent = byName.get(name.trim().toLowerCase());
  if (agent !== undefined) return agent;
  const known = agents.map((a) => (a.aliases.length === 0 ? a.slug : `${a.slug} (${a.aliases.join(', ')})`));
  throw new RangeError(`unknown agent '${name}'; known agents and aliases: ${known.join('; ')}`);
}

/** The agents that sessionlake reads: one line each. */
import type { AgentDefinition, SourceFormat } from './agent.ts';
import { aider } from './aider/index.ts';
import { amp } from './amp/index.ts';
import { antigravity } from './antigravity/index.ts';
import { chatgpt } from './chatgpt/index.ts';
import { claude } from './claude/index.ts';
import { claudeAi } from './claude_ai/index.ts';
import { clawdbot } from './clawdbot/index.ts';
import { cline } from './cline/index.ts';
import { codebuff } from './codebuff/index.ts';
import { codex } from './codex/index.ts';
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
import { hermes } from './hermes/index.ts';
import { iflow } from './iflow/index.ts';
import { junie } from './junie/index.ts';
import { kiloCode } from './kilo_code/index.ts';
import { kiro } from './kiro/index.ts';
import { mimocode } from './mimocode/index.ts';
import { omp } from './omp/index.ts';
import { opencode } from './opencode/index.ts';
import { openhands } from './openhands/index.ts';
import { piAgent } from './pi_agent/index.ts';
import { prime } from './prime/index.ts';
import { qwen } from './qwen/index.ts';
import { qwenpaw } from './qwenpaw/index.ts';
import { rooCode } from './roo_code/index.ts';
import { shelley } from './shelley/index.ts';
import { trae } from './trae/index.ts';
import { traex } from './traex/index.ts';
import { vibe } from './vibe/index.ts';
import { warp } from './warp/index.ts';
import { windsurf } from './windsurf/index.ts';
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
  codebuff,
  codex,
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
  hermes,
  iflow,
  junie,
  kiloCode,
  kiro,
  mimocode,
  omp,
  opencode,
  openhands,
  piAgent,
  prime,
  qwen,
  qwenpaw,
  rooCode,
  shelley,
  trae,
  traex,
  vibe,
  warp,
  windsurf,
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

const loaded = new Map<string, Promise<SourceFormat>>();

/** A layout of an agent's store with its code, which is imported at the first call. Throws where there is none. */
export function loadFormat(slug: string, storeKind: string): Promise<SourceFormat> {
  const key = `${slug} ${storeKind}`;
  let format = loaded.get(key);
  if (format === undefined) {
    const store = agentNamed(slug).formats[storeKind];
    if (store === undefined) throw new Error(`${slug} has no format ${storeKind}`);
    const { load, ...traits } = store;
    format = load().then((code) => ({ ...traits, ...code }));
    loaded.set(key, format);
  }
  return format;
}

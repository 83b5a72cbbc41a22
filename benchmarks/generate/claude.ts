import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLAUDE_ERAS, type ClaudeEra, type ClaudePlace, type ClaudeView } from './claude-rows.ts';
import { type AgentRun, ClaudeSession, type ClaudeSessionOptions } from './claude-session.ts';
import { Random } from './random.ts';
import { FileSink, type Written } from './sink.ts';
import type { StoreOptions } from './store.ts';
import type { Texts } from './text.ts';
import { BRANCHES, NOUNS, PROJECTS, VERBS } from './words.ts';

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 5, 8);

/** All that is needed to write a session again, and what came of it the first time. */
interface ClaudePlan {
  seed: number;
  stream: number;
  sessionId: string;
  era: ClaudeEra;
  place: ClaudePlace;
  model: string;
  start: number;
  turns: number;
  /** What its sub agents answered, by call. */
  runs: Map<string, AgentRun>;
}

/** Sessions that later ones may resume or fork; a bounded number, so that memory does not grow with the store. */
const MOST_ORIGINS = 12;

/** Writes `.claude/projects` until the store has its bytes, or its number of files. */
export function writeClaudeStore(options: StoreOptions, texts: Texts, written: Written): void {
  const projects = join(options.out, '.claude', 'projects');
  const origins: ClaudePlan[] = [];
  const before = written.bytes;
  for (let index = 0; ; index++) {
    const random = new Random(options.seed, 1_000_000 + index);
    const left = options.bytes - (written.bytes - before);
    if (options.files === null ? left < 4_000 : index >= options.files) return;
    const target =
      options.files === null
        ? Math.min(left, random.size(120_000, 1.8, 3_000, Math.min(60e6, options.bytes / 10)))
        : random.int(3_000, 20_000);
    const plan = makePlan(options.seed, 2_000_000 + index, random);
    const origin = origins.length > 0 && random.chance(0.1) ? random.pick(origins) : null;
    if (origin && options.files === null) writeContinuation(projects, texts, written, plan, origin, target, random);
    else writeFresh(projects, texts, written, plan, target, options.files === null);
    if (plan.turns < 3) continue;
    origins.push(plan);
    if (origins.length > MOST_ORIGINS) origins.shift();
  }
}

function makePlan(seed: number, stream: number, random: Random): ClaudePlan {
  let roll = random.int(0, 99);
  let era = CLAUDE_ERAS[0]?.[1] as ClaudeEra;
  for (const [share, candidate] of CLAUDE_ERAS) {
    era = candidate;
    if (roll < share) break;
    roll -= share;
  }
  return {
    seed,
    stream,
    sessionId: random.uuid(),
    era,
    place: {
      cwd: random.pick(PROJECTS),
      branch: random.pick(BRANCHES),
      slug: `${random.pick(VERBS)}-${random.pick(NOUNS)}-${random.pick(NOUNS)}`,
    },
    model: random.pick([
      'claude-opus-4-6',
      'claude-opus-4-6',
      'claude-sonnet-4-5-20250929',
      'claude-opus-4-5-20251101',
    ]),
    start: FIRST_DAY + random.int(0, 170) * DAY_MS + random.int(0, 36_000_000),
    turns: 0,
    runs: new Map(),
  };
}

function projectFolder(projects: string, plan: ClaudePlan): string {
  return join(projects, plan.place.cwd.replace(/[^A-Za-z0-9]/g, '-'));
}

function sessionOptions(sink: FileSink, texts: Texts, plan: ClaudePlan, view: ClaudeView): ClaudeSessionOptions {
  return {
    sink,
    texts,
    random: new Random(plan.seed, plan.stream),
    era: plan.era,
    place: plan.place,
    view,
    model: plan.model,
    start: plan.start,
    runAgent: null,
  };
}

function writeFresh(
  projects: string,
  texts: Texts,
  written: Written,
  plan: ClaudePlan,
  target: number,
  agents: boolean,
): void {
  const sink = new FileSink(join(projectFolder(projects, plan), `${plan.sessionId}.jsonl`), written);
  const options = sessionOptions(sink, texts, plan, { sessionId: plan.sessionId });
  if (agents) options.runAgent = agentRunner(projects, texts, written, plan, target);
  const session = new ClaudeSession(options);
  session.run(target);
  plan.turns = session.turns;
  sink.close();
}

/** A resumed or forked session: the first turns of another one, copied as its version does it, then its own. */
function writeContinuation(
  projects: string,
  texts: Texts,
  written: Written,
  plan: ClaudePlan,
  origin: ClaudePlan,
  target: number,
  random: Random,
): void {
  const sink = new FileSink(join(projectFolder(projects, origin), `${plan.sessionId}.jsonl`), written);
  const options = sessionOptions(sink, texts, origin, copyView(plan, origin));
  options.runAgent = (toolUseId, _now, dice) => {
    dice.bits();
    const run = origin.runs.get(toolUseId);
    if (!run) throw new Error(`the copy of ${origin.sessionId} has run away from its origin`);
    return run;
  };
  const session = new ClaudeSession(options);
  session.replay(Math.min(random.int(1, origin.turns - 1), 40));
  session.goOn({ sessionId: plan.sessionId }, random);
  options.runAgent = null;
  session.run(sink.bytes + Math.min(target, 400_000));
  sink.close();
}

function copyView(plan: ClaudePlan, origin: ClaudePlan): ClaudeView {
  switch (origin.era.copies) {
    case 'old-session-id':
      return { sessionId: origin.sessionId, copying: true };
    case 'forked-from':
      return { sessionId: plan.sessionId, forkedFrom: origin.sessionId, copying: true };
    case 'forked-from-and-request-session':
      return {
        sessionId: plan.sessionId,
        forkedFrom: origin.sessionId,
        requestSessionId: origin.sessionId,
        copying: true,
      };
  }
}

/** Writes the sub agents' files of one session. */
function agentRunner(
  projects: string,
  texts: Texts,
  written: Written,
  plan: ClaudePlan,
  target: number,
): ClaudeSessionOptions['runAgent'] {
  const folder = projectFolder(projects, plan);
  return (toolUseId, now, dice) => {
    const random = new Random(plan.seed ^ 0x5eed, dice.bits());
    const inProject = plan.era.agentFolder === 'project';
    const agentId = inProject ? random.hex(8) : `a${random.hex(16)}`;
    const base = join(inProject ? folder : join(folder, plan.sessionId, 'subagents'), `agent-${agentId}`);
    const report = texts.spoken(random, random.size(1800, 0.8, 200, 12_000));
    const sink = new FileSink(`${base}.jsonl`, written);
    const session = new ClaudeSession({
      sink,
      texts,
      random,
      era: plan.era,
      place: { ...plan.place, agentId },
      view: { sessionId: plan.sessionId },
      model: random.chance(0.6) ? 'claude-haiku-4-5-20251001' : plan.model,
      start: now + 300,
      runAgent: null,
    });
    session.runAsAgent(Math.min(target / 2, random.size(110_000, 1.1, 4_000, 5e6)), report);
    sink.close();
    if (!inProject) {
      const meta = `${JSON.stringify({ agentType: 'general-purpose', description: 'Look into it', toolUseId })}\n`;
      writeFileSync(`${base}.meta.json`, meta);
      written.bytes += meta.length;
    }
    const run = { agentId, replies: session.replies, report };
    plan.runs.set(toolUseId, run);
    return run;
  };
}

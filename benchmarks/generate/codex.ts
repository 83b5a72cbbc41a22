import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CODEX_ERAS, type CodexEra } from './codex-lines.ts';
import { type CodexIdentity, CodexSession, type CodexSessionOptions } from './codex-session.ts';
import { Random } from './random.ts';
import { FileSink, type Written } from './sink.ts';
import type { StoreOptions } from './store.ts';
import { sentence, type Texts } from './text.ts';
import { BRANCHES, PROJECTS } from './words.ts';

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 6, 7);

interface CodexPlan {
  seed: number;
  stream: number;
  era: CodexEra;
  cwd: string;
  branch: string;
  identity: CodexIdentity;
  turns: number;
}

const MOST_ORIGINS = 12;

/** Writes `.codex` until the store has its bytes, or its number of files. */
export function writeCodexStore(options: StoreOptions, texts: Texts, written: Written): void {
  const root = join(options.out, '.codex');
  const origins: CodexPlan[] = [];
  const titles: string[] = [];
  const before = written.bytes;
  for (let index = 0; ; index++) {
    const random = new Random(options.seed, 5_000_000 + index);
    const left = options.bytes - (written.bytes - before);
    if (options.files === null ? left < 40_000 : index >= options.files) break;
    const target =
      options.files === null
        ? Math.min(left, random.size(220_000, 1.5, 30_000, Math.min(60e6, options.bytes / 10)))
        : 30_000;
    const plan = makePlan(options.seed, 6_000_000 + index, random);
    const origin = origins.length > 0 && options.files === null ? random.pick(origins) : null;
    const roll = random.next();
    if (origin && roll < 0.08) writeFork(root, texts, written, plan, origin, target, random);
    else {
      if (origin && roll < 0.2) plan.identity.spawnedBy = origin.identity.threadId;
      writeFresh(root, texts, written, plan, target, random);
    }
    titles.push(
      JSON.stringify({
        id: plan.identity.threadId,
        thread_name: sentence(random),
        updated_at: new Date(plan.identity.start).toISOString(),
      }),
    );
    if (plan.turns < 3 || plan.identity.spawnedBy) continue;
    origins.push(plan);
    if (origins.length > MOST_ORIGINS) origins.shift();
  }
  const index = `${titles.filter((_, i) => i % 5 !== 0).join('\n')}\n`;
  if (titles.length > 0) writeFileSync(join(root, 'session_index.jsonl'), index);
  written.bytes += titles.length > 0 ? Buffer.byteLength(index) : 0;
}

function makePlan(seed: number, stream: number, random: Random): CodexPlan {
  let roll = random.int(0, 99);
  let era = CODEX_ERAS[0]?.[1] as CodexEra;
  for (const [share, candidate] of CODEX_ERAS) {
    era = candidate;
    if (roll < share) break;
    roll -= share;
  }
  const start = FIRST_DAY + random.int(0, 170) * DAY_MS + random.int(0, 36_000_000);
  return {
    seed,
    stream,
    era,
    cwd: random.pick(PROJECTS),
    branch: random.pick(BRANCHES),
    identity: { threadId: random.uuidAt(start), spawnedBy: null, forkedFrom: null, start },
    turns: 0,
  };
}

/** Mostly under the day of the start; a few threads have been archived. */
function rolloutPath(root: string, { threadId, start }: CodexIdentity, random: Random): string {
  const time = new Date(start).toISOString();
  const name = `rollout-${time.slice(0, 19).replaceAll(':', '-')}-${threadId}.jsonl`;
  if (random.chance(0.04)) return join(root, 'archived_sessions', name);
  return join(root, 'sessions', time.slice(0, 4), time.slice(5, 7), time.slice(8, 10), name);
}

function sessionOptions(sink: FileSink, texts: Texts, plan: CodexPlan): CodexSessionOptions {
  const { seed, stream, era, cwd, branch, identity } = plan;
  return { sink, texts, random: new Random(seed, stream), era, cwd, branch, identity };
}

function writeFresh(
  root: string,
  texts: Texts,
  written: Written,
  plan: CodexPlan,
  target: number,
  random: Random,
): void {
  const sink = new FileSink(rolloutPath(root, plan.identity, random), written);
  const session = new CodexSession(sessionOptions(sink, texts, plan));
  session.header(plan.identity);
  session.run(target);
  plan.turns = session.turns;
  sink.close();
}

/** A fork: its own header, its parent's, the parent's first turns, then its own. */
function writeFork(
  root: string,
  texts: Texts,
  written: Written,
  plan: CodexPlan,
  origin: CodexPlan,
  target: number,
  random: Random,
): void {
  const { identity } = plan;
  identity.start = origin.identity.start + random.int(1, 72) * 3_600_000;
  identity.threadId = random.uuidAt(identity.start);
  identity.forkedFrom = origin.identity.threadId;
  const sink = new FileSink(rolloutPath(root, identity, random), written);
  const session = new CodexSession(sessionOptions(sink, texts, origin));
  session.lines.stampedAt = identity.start;
  // The first header costs no dice: those of the parent's history must fall as they fell there.
  session.header(identity);
  session.header(origin.identity);
  session.replay(Math.min(random.int(1, origin.turns - 1), 40), identity.start);
  session.goOn(identity, random);
  session.run(sink.bytes + Math.min(target, 600_000));
  sink.close();
}

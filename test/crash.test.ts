/** A sync may be killed at any moment: no row is lost, none is there twice. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run, start, temporaryFolder } from './support/command.ts';
import { World } from './support/histories.ts';
import { exportHere, lakeRows, ledgerSums, viewOf } from './support/lakes.ts';

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 50);
/** Longer than a whole run takes, so that some rounds end by themselves. */
const LONGEST_MS = 700;

/** Deterministic moments: a failing round can be run again. */
function* moments(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

function grow(world: World, round: number): void {
  world.apply({ kind: 'create', agent: 'claude', at: 0, by: round });
  for (let i = 0; i < 30; i++)
    world.apply({ kind: 'append', agent: i % 3 === 0 ? 'codex' : 'claude', at: round * 7 + i, by: i });
  world.apply({ kind: 'repeat', agent: 'claude', at: round, by: round });
  world.apply({ kind: 'branch', agent: 'claude', at: round * 3, by: round });
  if (round % 5 === 0) world.apply({ kind: 'fork', agent: 'claude', at: round, by: round });
  if (round % 4 === 0) world.apply({ kind: 'create', agent: 'codex', at: 0, by: round });
}

function killAfter(args: readonly string[], env: Record<string, string>, milliseconds: number): Promise<boolean> {
  const child = start(args, env);
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
  return new Promise((done) => {
    child.on('close', (_, signal) => {
      clearTimeout(timer);
      done(signal === 'SIGKILL');
    });
  });
}

it(`a sync killed ${ROUNDS} times leaves every row there once`, async () => {
  const folder = temporaryFolder();
  const world = new World(join(folder, 'home'));
  const lake = join(folder, 'lake');
  const args = ['sync', '--out', lake, '--format', 'ndjson', '--quiet', '--host', 'test-host'];
  const env = { HOME: world.home };
  let killed = 0;
  const moment = moments(20260105);
  for (let round = 0; round < ROUNDS; round++) {
    grow(world, round);
    if (await killAfter(args, env, moment.next().value! * LONGEST_MS)) killed++;
  }
  expect(killed).toBeGreaterThan(ROUNDS / 4);
  const last = await run(args, env);
  expect(last.status, last.stderr).toBe(0);

  const rows = lakeRows(lake);
  const versions = rows
    .filter((r) => r['event_id'] !== undefined)
    .map((r) => `${r.record} ${r['event_id']} ${r['generation']} ${r['revision']}`);
  expect(versions.length).toBe(new Set(versions).size);
  await exportHere(world.home, join(folder, 'snapshot'));
  const exported = lakeRows(join(folder, 'snapshot'));
  expect(exported.length).toBeGreaterThan(ROUNDS * 20);
  expect(viewOf(rows).tables).toEqual(viewOf(exported).tables);
  expect(ledgerSums(rows)).toEqual(ledgerSums(exported));
  const stage = join(lake, '_sessionlake', 'stage');
  expect(existsSync(stage) ? readdirSync(stage) : []).toEqual([]);
});

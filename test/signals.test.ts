/** A run that is interrupted: its exit status, and what is left of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { run, start, temporaryFolder } from './support/command.ts';
import { World } from './support/histories.ts';
import { exportHere, lakeRows, ledgerSums, viewOf } from './support/lakes.ts';

function grow(world: World, sessions: number): void {
  for (let i = 0; i < sessions; i++) {
    world.apply({ kind: 'create', agent: i % 2 === 0 ? 'claude' : 'codex', at: 0, by: i });
    for (let t = 0; t < 300; t++)
      world.apply({ kind: 'append', agent: i % 2 === 0 ? 'claude' : 'codex', at: i, by: t });
  }
}

/** Whether a batch is being written. */
const isWriting = (lake: string): boolean => {
  const stage = join(lake, '_sessionlake', 'stage');
  return existsSync(stage) && readdirSync(stage).length > 0;
};

/** Starts a sync and sends the signal in the midst of its first batch. */
async function interrupt(
  args: readonly string[],
  home: string,
  lake: string,
  signal: NodeJS.Signals,
): Promise<unknown> {
  const child = start(args, { HOME: home });
  const ended = new Promise((done) => child.on('close', (status, by) => done(by ?? status)));
  while (child.exitCode === null && !isWriting(lake)) await sleep(1);
  child.kill(signal);
  return ended;
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends a sync with status %i, and leaves what was committed and nothing else', async (signal, status) => {
  const folder = temporaryFolder();
  const world = new World(join(folder, 'home'));
  const lake = join(folder, 'lake');
  // With threads, the main one is free to hear the signal while they write.
  const args = ['sync', '--out', lake, '--format', 'ndjson', '--threads', '2', '--quiet', '--host', 'test-host'];
  grow(world, 6);
  expect(await interrupt(args, world.home, lake, signal)).toBe(status);
  expect(existsSync(lake) ? lakeRows(lake) : []).toEqual([]);

  expect((await run(args, { HOME: world.home })).status).toBe(0);
  const manifest = readFileSync(join(lake, '_sessionlake', 'manifest.json'), 'utf8');
  const committed = lakeRows(lake);
  grow(world, 6);
  expect(await interrupt(args, world.home, lake, signal)).toBe(status);
  expect(readFileSync(join(lake, '_sessionlake', 'manifest.json'), 'utf8')).toBe(manifest);
  expect(lakeRows(lake)).toEqual(committed);
  const verified = await run(['verify', lake]);
  expect(verified.status, verified.stdout).toBe(0);

  expect((await run(args, { HOME: world.home })).status).toBe(0);
  expect(isWriting(lake)).toBe(false);
  const snapshot = join(folder, 'snapshot');
  await exportHere(world.home, snapshot);
  expect(viewOf(lakeRows(lake)).tables).toEqual(viewOf(lakeRows(snapshot)).tables);
  expect(ledgerSums(lakeRows(lake))).toEqual(ledgerSums(lakeRows(snapshot)));
});

it('an interrupted export leaves the snapshot before it whole', async () => {
  const folder = temporaryFolder();
  const world = new World(join(folder, 'home'));
  const out = join(folder, 'lake');
  const args = ['export', '--out', out, '--format', 'ndjson', '--threads', '2', '--quiet'];
  grow(world, 6);
  expect((await run(args, { HOME: world.home })).status).toBe(0);
  const rows = lakeRows(out);
  grow(world, 6);
  const child = start(args, { HOME: world.home });
  const ended = new Promise((done) => child.on('close', (status, by) => done(by ?? status)));
  const stage = join(folder, '.lake.sessionlake-stage');
  while (child.exitCode === null && !existsSync(stage)) await sleep(1);
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(lakeRows(out)).toEqual(rows);
  expect((await run(args, { HOME: world.home })).status).toBe(0);
  expect(existsSync(stage)).toBe(false);
  expect(lakeRows(out).length).toBeGreaterThan(rows.length);
});

/** Incremental reading gives what one export gives, whatever happened to the store between the runs. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Row, temporaryFolder } from './support/command.ts';
import { growingHistory, losingHistory, type Step, World } from './support/histories.ts';
import { exportHere, lakeRows, ledgerSums, syncHere, viewOf } from './support/lakes.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 40);

interface Outcome {
  readonly synced: Row[];
  readonly exported: Row[];
}

/** Lives through a history, with a sync wherever it says so and one at the end; then exports what is there. */
async function live(history: readonly Step[]): Promise<Outcome> {
  const folder = temporaryFolder();
  const world = new World(join(folder, 'home'));
  const lake = join(folder, 'lake');
  for (const change of history) {
    if (change.kind === 'sync') expect((await syncHere(world.home, lake)).heldBack).toEqual([]);
    else world.apply(change);
  }
  expect((await syncHere(world.home, lake)).heldBack).toEqual([]);
  expect((await exportHere(world.home, join(folder, 'snapshot'))).heldBack).toEqual([]);
  return { synced: lakeRows(lake), exported: lakeRows(join(folder, 'snapshot')) };
}

describe('sync', () => {
  it('gives the tables of one export, and the same plain sums, for any growing history', async () => {
    await fc.assert(
      fc.asyncProperty(growingHistory, async (history) => {
        const { synced, exported } = await live(history);
        const view = viewOf(synced);
        expect(view.withdrawn.size).toBe(0);
        expect(view.tables).toEqual(viewOf(exported).tables);
        expect(ledgerSums(synced)).toEqual(ledgerSums(exported));
      }),
      { numRuns: RUNS },
    );
  });

  it('tells the size of a source whose tail is torn again after a damaged line', async () => {
    const step = (kind: 'create' | 'tear' | 'seal'): Step => ({ kind, agent: 'codex', at: 0, by: 0 });
    const { synced, exported } = await live([
      step('create'),
      step('tear'),
      step('seal'),
      { kind: 'sync' },
      step('tear'),
    ]);
    expect(viewOf(synced).tables).toEqual(viewOf(exported).tables);
  });

  it('takes back what a fork was counted for before its parent was there in full', async () => {
    const folder = temporaryFolder();
    const world = new World(join(folder, 'home'));
    const step = (kind: 'create' | 'append' | 'fork', by: number): void =>
      world.apply({ kind, agent: 'codex', at: 0, by });
    step('create', 0);
    for (let i = 0; i < 6; i++) step('append', 1);
    step('fork', 1000);
    const sessions = join(world.home, '.codex', 'sessions', '2026', '01', '05');
    const parent = join(sessions, readdirSync(sessions).sort()[0]!);
    const whole = readFileSync(parent, 'utf8');
    const lines = whole.split('\n');
    writeFileSync(parent, `${lines.slice(0, Math.floor(lines.length / 2)).join('\n')}\n`);
    await syncHere(world.home, join(folder, 'lake'));
    writeFileSync(parent, whole);
    await syncHere(world.home, join(folder, 'lake'));
    await exportHere(world.home, join(folder, 'snapshot'));
    expect(ledgerSums(lakeRows(join(folder, 'lake')))).toEqual(ledgerSums(lakeRows(join(folder, 'snapshot'))));
  });

  it('keeps what a store has lost, marks its messages, and counts all that was ever billed', async () => {
    await fc.assert(
      fc.asyncProperty(losingHistory, async (history) => {
        const { synced, exported } = await live(history);
        const view = viewOf(synced);
        const now = viewOf(exported);
        for (const record of ['message', 'tool_call', 'tool_result'] as const) {
          const held = new Set(view.tables[record] ?? []);
          const missing = (now.tables[record] ?? []).filter((row) => !held.has(row));
          expect(missing, `rows of ${record} that the store holds and the lake does not`).toEqual([]);
        }
        const before = ledgerSums(synced);
        for (const [column, sum] of Object.entries(ledgerSums(exported)))
          expect(before[column]).toBeGreaterThanOrEqual(sum);
      }),
      { numRuns: RUNS },
    );
  });
});

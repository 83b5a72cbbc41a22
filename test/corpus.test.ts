/** Every case through the real command: at once, by any number of threads, and as a store that grows. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { copyOf, parseRows, type Row, run, temporaryFolder } from './support/command.ts';
import { argumentsOf, type Case, casesOf, compareCase, environmentOf } from './support/corpus.ts';
import { lakeRows } from './support/lakes.ts';
import { treeOf } from './support/tree.ts';

const cases = casesOf();

/** Agents of the cases that gave the right answer. */
const right: string[] = [];
afterAll(() => {
  const agents = new Set(cases.map(({ agent }) => agent)).size;
  console.log(
    `${agents} agents, ${cases.length} cases: ${right.length} cases of ${new Set(right).size} agents gave the right answer`,
  );
});

async function stream({ expected }: Case, store: string, ...more: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await run(
    ['stream', ...argumentsOf(expected, store), ...more],
    environmentOf(expected, store),
  );
  expect([0, 2], stderr).toContain(status);
  return stdout;
}

/** Rows without what is different in every run. */
const lasting = (rows: readonly Row[]): Row[] =>
  rows.map(({ ingested_at: _at, batch_id: _batch, ...row }) => row as Row);

/** Files that only ever grow, so that half of them is what an earlier run found. */
function growingFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return growingFiles(path);
    return /\.(?:jsonl|md)$/.test(name) ? [path] : [];
  });
}

/** The first half of the lines. */
function halfOf(bytes: Buffer): Buffer {
  const ends: number[] = [];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at + 1);
  return bytes.subarray(0, ends[Math.floor(ends.length / 2) - 1] ?? 0);
}

async function syncTwice({ expected }: Case, store: string, files: readonly string[]): Promise<Row[]> {
  const lake = join(temporaryFolder(), 'lake');
  const sync = async (): Promise<void> => {
    const args = ['sync', '--format', 'ndjson', '--out', lake, ...argumentsOf(expected, store)];
    const { status, stderr } = await run(args, environmentOf(expected, store));
    // A half may hold no record yet, so that nothing can be committed.
    expect([0, 2, 3], stderr).toContain(status);
  };
  const whole = files.map((path) => readFileSync(path));
  files.forEach((path, i) => {
    writeFileSync(path, halfOf(whole[i]!));
  });
  await sync();
  files.forEach((path, i) => {
    writeFileSync(path, whole[i]!);
  });
  await sync();
  return lakeRows(lake);
}

describe.each([...new Set(cases.map((c) => c.agent))])('%s', (agent) => {
  const own = cases.filter((c) => c.agent === agent).map((c) => [c.name, c] as const);

  it.concurrent.each(own)('case %s gives the right answer, and leaves the store as it was', async (_, one) => {
    const store = copyOf(one.store);
    const before = treeOf(store);
    compareCase(one.expected, parseRows(await stream(one, store)), store);
    expect(treeOf(store)).toEqual(before);
    right.push(agent);
  });

  it.concurrent.each(own)('case %s gives the same rows with one thread and with four', async (_, one) => {
    const store = copyOf(one.store);
    const [single, four] = await Promise.all([
      stream(one, store, '--threads', '1'),
      stream(one, store, '--threads', '4'),
    ]);
    compareCase(one.expected, parseRows(single), store);
    expect(lasting(parseRows(four))).toEqual(lasting(parseRows(single)));
  });

  it.concurrent.each(own.filter(([, { store }]) => growingFiles(store).length > 0))(
    'case %s gives the right answer when it is read in two halves',
    async (_, one) => {
      const store = copyOf(one.store);
      compareCase(one.expected, await syncTwice(one, store, growingFiles(store)), store);
    },
  );
});

/** `sessionlake cursor show|reset`. */
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { agentNamed } from '../agents/registry.ts';
import { Cursor } from '../cursor/cursor.ts';
import { cursorPath, forgetLostFiles, rollForward } from '../cursor/lake.ts';
import { takeLock } from '../cursor/lock.ts';
import { type OptionsInput, parseOptions, UsageError } from '../options.ts';
import { FORMAT_VERSION } from '../results.ts';
import { formatCount, plural, showTable } from './people.ts';
import { printJson, show, tell } from './terminal.ts';

function cursorFile(options: ReturnType<typeof parseOptions>): string {
  if (options.cursor !== undefined) return resolve(options.cursor);
  if (options.out !== undefined) return cursorPath(resolve(options.out));
  throw new UsageError('name the lake with --out DIR or the cursor with --cursor FILE');
}

function existing(options: ReturnType<typeof parseOptions>): string {
  const file = cursorFile(options);
  if (!existsSync(file)) throw new UsageError(`${file}: there is no cursor`);
  return file;
}

export async function cursorShow(input: OptionsInput): Promise<number> {
  const options = parseOptions(input);
  const file = existing(options);
  const cursor = Cursor.look(file);
  try {
    const batches = cursor.batches();
    const byAgent = new Map<
      string,
      { sources: number; bytes: number; records: number; statuses: Record<string, number> }
    >();
    for (const source of cursor.sources().values()) {
      const sum = byAgent.get(source.agent) ?? { sources: 0, bytes: 0, records: 0, statuses: {} };
      sum.sources++;
      sum.bytes += source.lastCompleteByte ?? source.size ?? 0;
      sum.records += source.records;
      sum.statuses[source.status] = (sum.statuses[source.status] ?? 0) + 1;
      byAgent.set(source.agent, sum);
    }
    const failures = cursor.statement('SELECT agent, path, told FROM failures ORDER BY agent, path').all() as {
      agent: string;
      path: string;
      told: string;
    }[];
    if (options.json === true) {
      const settings = JSON.parse(cursor.meta('settings') ?? 'null') as unknown;
      const agents = Object.fromEntries(byAgent);
      printJson({
        format_version: FORMAT_VERSION,
        cursor: file,
        settings,
        batches: batches.length,
        last_batch: batches.at(-1)?.batchId ?? null,
        agents,
        failures: failures.map((f) => ({ agent: f.agent, path: f.path })),
      });
      return 0;
    }
    const rows = [...byAgent].map(([agent, sum]) => [
      agent,
      formatCount(sum.sources),
      formatCount(sum.bytes),
      formatCount(sum.records),
      Object.entries(sum.statuses)
        .map(([status, count]) => `${status} ${count}`)
        .join(', '),
    ]);
    const last = batches.at(-1);
    showTable(['Agent', 'Sources', 'Bytes read', 'Records', 'Status'], rows, new Set([1, 2, 3]));
    show(
      last === undefined
        ? 'no batch of files'
        : `${plural(batches.length, 'batch', 'batches')}, the last ${last.batchId}`,
      ...failures.map((failure) => `held back: ${failure.agent} ${failure.path}`),
    );
    return 0;
  } finally {
    cursor.close();
  }
}

/** Takes files that are gone off the list of what was committed. */
function resetLostFiles(cursor: Cursor, lake: string): void {
  const settings = cursor.meta('settings');
  if (settings === null) throw new UsageError(`${cursor.path}: no lake was written with this cursor`);
  const lost = forgetLostFiles(cursor, lake);
  // Brings an interrupted batch to its end without them, and the manifest up to date.
  rollForward(cursor, lake, (JSON.parse(settings) as { format: string }).format);
  tell(
    ...lost.map((path) => `given up: ${path}`),
    lost.length === 0
      ? 'no file is missing'
      : `${plural(lost.length, 'file')} taken off the list: their rows are lost to the lake, and what the stores still hold of them is not written again`,
  );
}

/**
 * Forgets the whole cursor, or (with --agent) the positions of some agents' sources, which are then read anew: their
 * rows are remembered, so that only what differs is written. With --lost-files, only files that are gone are forgotten.
 */
export async function cursorReset(input: OptionsInput & { 'lost-files'?: boolean }): Promise<number> {
  const { 'lost-files': onlyLost, ...rest } = input;
  const options = parseOptions(rest);
  const file = existing(options);
  if (onlyLost === true && (options.out === undefined || options.agent !== undefined))
    throw new UsageError('--lost-files needs --out DIR, the lake whose files are gone, and goes without --agent');
  const lock = takeLock(`${file}.lock`);
  try {
    if (options.agent === undefined && onlyLost !== true) {
      for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
      tell(`${file} is removed; sync refuses this lake until its folder is moved away, and then writes every row anew`);
      return 0;
    }
    const cursor = Cursor.open(file);
    try {
      if (onlyLost === true) {
        resetLostFiles(cursor, resolve(options.out!));
        return 0;
      }
      let count = 0;
      for (const name of options.agent ?? []) {
        const { slug } = agentNamed(name);
        const unread = `UPDATE sources SET resume = NULL, fingerprint = '{"size":null,"mtimeMs":null,"ctimeMs":null,"inode":null,"sidecars":"","hints":""}' WHERE agent = ?`;
        count += cursor.statement(unread).run(slug).changes;
      }
      tell(`${plural(count, 'source')} will be read from the start by the next run`);
      return 0;
    } finally {
      cursor.close();
    }
  } finally {
    lock.release();
  }
}

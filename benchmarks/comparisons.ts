import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from './measure.ts';
import { ccusageCommands } from './peers/ccusage.ts';
import { storeEnvironment } from './peers/environment.ts';
import { jqCommand } from './peers/jq.ts';

/** One side of a comparison: commands run one after the other and counted as one. */
export interface Contestant {
  label: string;
  ours: boolean;
  commands: readonly Command[];
  /** Removed before each run, so that no run finds another's files. */
  fresh?: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const CLI = join(ROOT, 'dist', 'cli.js');

export function isBuilt(): boolean {
  return existsSync(CLI);
}

function sessionlake(store: string, args: readonly string[], stdout: string | null = null): Command {
  return { argv: [NODE, CLI, ...args], env: storeEnvironment(store), stdout };
}

export function exportContestant(
  store: string,
  work: string,
  label = 'sessionlake export',
  more: readonly string[] = [],
): Contestant {
  const out = join(work, 'export');
  return {
    label,
    ours: true,
    fresh: out,
    commands: [
      sessionlake(store, ['export', '--format', 'parquet', '--out', out, '--threads', '2', '--quiet', ...more]),
    ],
  };
}

export function duckdbContestant(store: string, work: string, more: readonly string[] = []): Contestant {
  const out = join(work, 'duckdb');
  const script = fileURLToPath(new URL('peers/duckdb.ts', import.meta.url));
  return {
    label: 'DuckDB unnest',
    ours: false,
    fresh: out,
    commands: [
      { argv: [NODE, script, store, out, '--threads', '2', ...more], env: storeEnvironment(store), stdout: null },
    ],
  };
}

/** Tables from transcripts: the whole store to Parquet. */
export function exportComparison(store: string, work: string): Contestant[] {
  return [exportContestant(store, work), duckdbContestant(store, work)];
}

/** Token totals per day. */
export function usageComparison(store: string, work: string): Contestant[] {
  const ours: Contestant = {
    label: 'sessionlake usage',
    ours: true,
    commands: [sessionlake(store, ['usage', '--json', '--threads', '2', '--quiet'], join(work, 'usage.json'))],
  };
  const peer = ccusageCommands(store, work);
  if (peer === null) {
    console.error('no native ccusage for this platform: its side is left out');
    return [ours];
  }
  return [ours, { label: 'ccusage claude + codex', ours: false, commands: peer }];
}

/** Usage rows of Claude's transcripts as NDJSON. */
export function streamComparison(store: string, work: string): Contestant[] {
  const ours: Contestant = {
    label: 'sessionlake stream',
    ours: true,
    commands: [
      sessionlake(
        store,
        ['stream', '--agent', 'claude', '--tables', 'usage', '--threads', '2', '--quiet'],
        join(work, 'usage.ndjson'),
      ),
    ],
  };
  const out = join(work, 'jq');
  const peer = jqCommand(store, out);
  if (peer === null) {
    console.error('no jq on this machine: its side is left out');
    return [ours];
  }
  return [ours, { label: 'jq, two processes', ours: false, commands: [peer], fresh: out }];
}

/** One line of hundreds of megabytes: drained under the default limit, read under a higher one. */
export function bigLineComparison(store: string, work: string, lineBytes: number): Contestant[] {
  const limit = String(lineBytes + 1_000_000);
  return [
    exportContestant(store, work, 'sessionlake, line read', ['--max-line', limit, '--max-file', '2000000000']),
    duckdbContestant(store, work, ['--max-object', limit, '--agents', 'claude']),
    exportContestant(store, work, 'sessionlake, line drained'),
  ];
}

/** `sync` where nothing has changed; the first sync is not timed. */
export function syncContestant(store: string, work: string): { first: Command; again: Contestant } {
  const out = join(work, 'lake');
  rmSync(out, { recursive: true, force: true });
  const command = sessionlake(store, ['sync', '--out', out, '--threads', '2', '--quiet']);
  return { first: command, again: { label: 'sessionlake sync, unchanged', ours: true, commands: [command] } };
}
